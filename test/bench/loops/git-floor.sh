# The same durable work as a default iteration, with plain git: agent, checkpoint, check, mark, commit, one synced row.
# What a careful engineer would write; nothing is looked at. Arguments: how many, the agent's command, the ledger.
iterations=$1 agent=$2 ledger=$3
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=maintenance.auto GIT_CONFIG_VALUE_0=false
cp .git/index .git/floor-index
parent=$(git rev-parse HEAD)
for ((n = 1; n <= iterations; n++)); do
  printf -v RALPH_TASK 'US-%05d' "$n"
  export RALPH_TASK
  sh -c "$agent" >"$ledger.said" </dev/null
  # The checkpoint: a snapshot of the working tree that the user's index and branch know nothing of.
  GIT_INDEX_FILE=.git/floor-index git add -A
  tree=$(GIT_INDEX_FILE=.git/floor-index git write-tree)
  checkpoint=$(git commit-tree "$tree" -p "$parent" -m "checkpoint $n")
  git update-ref "refs/floor/$n" "$checkpoint"
  sh -c true || exit 1 # the check
  sed -i "/\"$RALPH_TASK\"/,/passes/s/\"passes\": false/\"passes\": true/" PRD.json
  { git diff-tree -r --name-only "$parent" "$checkpoint" && echo PRD.json; } | git add --pathspec-from-file=-
  git commit -q -m "$RALPH_TASK"
  echo "$RALPH_TASK done $checkpoint" >>"$ledger"
  sync "$ledger" PRD.json
  parent=$checkpoint
done
