-- title: Calls without a reply
-- needs: tool
select f.path, c.transcript, c.turn, c.tool, c.call as message, c.state
from calls c join files f using (file_key)
where c.reply is null order by f.path, c.call
