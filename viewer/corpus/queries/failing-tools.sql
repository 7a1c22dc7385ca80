-- title: Failing tools
-- needs: tool
-- parameters: minimum=20
select tool, count(*) as calls, count(*) filter (state = 'failed') as failed, count(*) filter (state = 'timeout') as timeouts,
       count(*) filter (state = 'unanswered') as unanswered, round(100.0 * count(*) filter (state <> 'ok') / count(*), 1) as "not ok %"
from calls group by tool having count(*) >= $minimum order by "not ok %" desc, calls desc, tool
