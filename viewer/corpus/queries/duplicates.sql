-- title: Files with equal content
-- needs: content
select content_hash, count(*) as files, any_value(size) as bytes, list_sort(list(path)) as paths
from files where content_hash is not null group by content_hash having count(*) > 1 order by any_value(size) * count(*) desc, content_hash
