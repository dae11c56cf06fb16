# Runs one server and ends it when the other end of our standard input closes: that is, when the process that started us
# is gone, however it went. Usage: sh -c <this text> weir-supervise FOLDER SIGNAL keep|remove COMMAND...
# A line on standard input (SIGNAL keep|remove PID...) ends the server in another way, and the named processes with it.
umask 077
folder=$1 signal=$2 after=$3
shift 3
exec 3<&0 </dev/null
"$@" 3<&- >>"$folder/log" 2>&1 &
server=$!
echo "$server" >"$folder/pid"
(
  if read -r asked_signal asked_after others <&3; then signal=$asked_signal after=$asked_after; fi
  # shellcheck disable=SC2086 # $others is a list
  [ -e "$folder/ended" ] || kill -s "$signal" "$server" $others
  polls=0
  while [ ! -e "$folder/ended" ]; do
    polls=$((polls + 1))
    [ "$polls" -lt 300 ] || kill -s KILL "$server"
    sleep 0.02
  done
  # Children of a killed server may write for another moment.
  [ "$after" = keep ] || rm -rf -- "$folder" || { sleep 0.5; rm -rf -- "$folder"; }
) &
wait "$server"
echo "$?" >"$folder/ended"
exec 3<&-
wait
