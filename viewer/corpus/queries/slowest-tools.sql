-- title: The slowest tools, and how often they miss their deadline
-- needs: tool
-- parameters: minimum=1
select tool, count(latency_ms) as calls, round(median(latency_ms)) as median_ms,
       round(quantile_cont(latency_ms, 0.95)) as p95_ms, max(latency_ms) as max_ms,
       round(100.0 * count(*) filter (latency_ms > deadline_ms) / nullif(count(*) filter (deadline_ms is not null), 0), 1) as "late %"
from calls group by tool having count(latency_ms) >= $minimum order by median_ms desc nulls last, tool
