-- title: The most frequent problems, each with an example
select d.code, d.severity, count(distinct d.file_key) as files, count(*) as problems,
       arg_min(f.path, (f.path, d.start)) as example, arg_min(d.line, (f.path, d.start)) as line
from diagnostics d join files f using (file_key)
where d.severity <> 'info' group by d.code, d.severity order by problems desc, d.code
