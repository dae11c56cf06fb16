-- DBeaver: where a session is.
SELECT current_schema(), session_user
