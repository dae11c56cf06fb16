# Runs one server and ends it when the other end of our standard input closes: that is, when the process that started us
# is gone, however it went. Usage: sh -c <this text> weir-supervise FOLDER SIGNAL keep|remove REPORTS COMMAND...
# A line on standard input (SIGNAL keep|remove PID...) ends the server in another way, and the named processes with it.
# A server that crashed leaves a report in the folder REPORTS; it is shown when it is written, and named at our end.
umask 077
folder=$1 signal=$2 after=$3 reports=$4
shift 4
exec 3<&0 </dev/null
log=$folder/log
logged_before=0
[ ! -e "$log" ] || logged_before=$(wc -c <"$log")
"$@" 3<&- >>"$log" 2>&1 &
server=$!
echo "$server" >"$folder/pid"
# Nobody may read our standard error any more; and when whoever started us goes while the server is stopped, the kernel
# hangs up on our whole group. The server is to be ended all the same.
trap '' PIPE HUP
report=$reports/weir-crash-$(basename "$folder")-$server.log

# What this server has written, not those before it in the same folder.
logged() {
  tail -c "+$((logged_before + 1))" "$log"
}

# How the server crashed, given its exit code; nothing when it did not. A server that hangs while it writes its own
# backtrace, and one that outlives the crash of a child, ended as asked: only the log tells.
crash() {
  if [ "$1" -gt 128 ]; then
    case $1 in
      # The signals that we send.
      130 | 131 | 137 | 143) [ -e "$folder/asked" ] || echo "killed by signal $(($1 - 128)), which is not ours" ;;
      *) echo "killed by signal $(($1 - 128))" ;;
    esac
  fi
  logged | grep -a -m 1 -E 'got signal [0-9]+ ;|was terminated by signal (4|6|7|8|11):'
}

(
  if read -r asked_signal asked_after others <&3; then signal=$asked_signal after=$asked_after; fi
  : >"$folder/asked"
  # shellcheck disable=SC2086 # $others is a list
  [ -e "$folder/ended" ] || kill -s "$signal" "$server" $others 2>/dev/null
  polls=0
  while [ ! -e "$folder/ended" ]; do
    polls=$((polls + 1))
    [ "$polls" -lt 300 ] || kill -s KILL "$server" 2>/dev/null
    sleep 0.02
  done
  # Last, so that it stands below what went wrong because of it.
  [ ! -e "$report" ] || echo "weir-sandbox: a private server had crashed, see $report" >&2
  # Children of a killed server may write for another moment.
  [ "$after" = keep ] || rm -rf -- "$folder" 2>/dev/null || { sleep 0.5; rm -rf -- "$folder"; }
) &
# Some shells tell of a killed job here.
wait "$server" 2>/dev/null
code=$?
crashed=$(crash "$code")
if [ -n "$crashed" ]; then
  told=$(printf 'weir-sandbox: a private server crashed\n%s\n%s\n\nthe end of its log:\n%s' "$*" "$crashed" "$(logged | tail -n 150)")
  printf '\n%s\n\n' "$told" >&2
  mkdir -p -- "$reports"
  printf '%s\n' "$told" >"$report"
fi
echo "$code" >"$folder/ended"
exec 3<&-
wait
