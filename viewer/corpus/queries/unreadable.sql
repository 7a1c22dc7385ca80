-- title: Files that are not ok, with state and reason
select path, state, reason, size from files where state <> 'ok' order by state, reason, path
