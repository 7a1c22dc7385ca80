-- title: The largest transcripts by messages and turns
select f.path, m.transcript, count(*) as shown, max(m.turn) as turns, any_value(f.size) as bytes
from messages m join files f using (file_key)
group by f.path, m.transcript order by shown desc, turns desc, f.path, m.transcript
