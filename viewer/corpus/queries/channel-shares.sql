-- title: Share of messages by role and channel, by model
-- needs: all
select model, role, channel, count(*) as messages,
       round(100.0 * count(*) / sum(count(*)) over (partition by model), 1) as "share %"
from messages group by model, role, channel order by model, messages desc, role, channel
