# A stop hook of bash, jq and perl, as such hooks are written: last message, exact promise, next iteration, the prompt again.
# No ledger, no checks, no limits but one, no tokens, no second session: the least that keeps a turn going.
set -eu
input=$(cat)
state=.claude/ralph-loop.local.md
[ -f "$state" ] || exit 0
front=$(awk '/^---$/{i++; next} i==1' "$state")
iteration=$(sed -n 's/^iteration: //p' <<<"$front")
most=$(sed -n 's/^max_iterations: //p' <<<"$front")
promise=$(sed -n 's/^completion_promise: "\(.*\)"$/\1/p' <<<"$front")
if [ "$most" -gt 0 ] && [ "$iteration" -ge "$most" ]; then rm "$state"; exit 0; fi
transcript=$(jq -r .transcript_path <<<"$input")
[ -f "$transcript" ] || exit 0
last=$(grep '"role":"assistant"' "$transcript" | tail -1)
said=$(jq -r '.message.content | map(select(.type == "text")) | map(.text) | join("\n")' <<<"$last")
given=$(perl -0777 -pe 's/.*?<promise>(.*?)<\/promise>.*/$1/s; s/^\s+|\s+$//g; s/\s+/ /g' <<<"$said")
if [ "$given" = "$promise" ]; then rm "$state"; exit 0; fi
prompt=$(awk '/^---$/{i++; next} i>=2' "$state")
sed "s/^iteration: .*/iteration: $((iteration + 1))/" "$state" >"$state.$$"
mv "$state.$$" "$state"
jq -cn --arg prompt "$prompt" --arg message "iteration $((iteration + 1))" '{decision: "block", reason: $prompt, systemMessage: $message}'
