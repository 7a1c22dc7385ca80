-- title: Failing tools, and where each failed first
-- needs: tool
-- parameters: minimum=20
select c.tool, count(*) as calls, count(*) filter (c.state = 'failed') as failed, count(*) filter (c.state = 'timeout') as timeouts,
       count(*) filter (c.state = 'unanswered') as unanswered,
       count(*) filter (c.state not in ('ok', 'failed', 'timeout', 'unanswered')) as other,
       round(100.0 * count(*) filter (c.state <> 'ok') / count(*), 1) as "not ok %",
       arg_min(coalesce(c.call, c.reply), (coalesce(c.call_ms, f.mtime_ms), f.path, c.call)) filter (c.state <> 'ok') as message,
       arg_min(f.path, (coalesce(c.call_ms, f.mtime_ms), f.path, c.call)) filter (c.state <> 'ok') as path
from calls c join files f using (file_key)
group by c.tool having count(*) >= $minimum order by "not ok %" desc, calls desc, c.tool
