-- title: Share of files with a high leak score, by model
-- needs: leaks
-- parameters: threshold=60
select model, count(*) as files, count(*) filter (leak >= $threshold) as leaking,
       round(100.0 * count(*) filter (leak >= $threshold) / count(*), 1) as "leaking %",
       max(leak) as worst, arg_max(path, leak) as "worst file"
from files where leak is not null group by model order by "leaking %" desc, files desc, model
