-- title: Codes and files with errors that a run added
-- parameters: run=
with before as (
  select p.path, d.code from files_parts p join diagnostics_parts d on d.file_key = p.file_key and d.part = p.part
  where p.run_id <> $run and p.scanned_ms < (select min(started_ms) from runs where run_id = $run)
)
select d.code, f.path, count(*) as errors, min(d.line) as line
from diagnostics d join files f using (file_key)
where f.run_id = $run and d.severity = 'error'
  and not exists (select 1 from before b where b.path = f.path and b.code = d.code)
group by d.code, f.path order by d.code, f.path
