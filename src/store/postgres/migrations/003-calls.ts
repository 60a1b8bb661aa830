import { admitCalls } from './admit-calls.ts'
import { flag, hash, freeSpace, text } from './columns.ts'
import { ofProject, secure } from './row-security.ts'
import { settleCalls } from './settle-calls.ts'

/**
 * The state of the gate: rate limits, attempts and their responses, liveness challenges, the request
 * log and its hourly counts; and functions that save round trips of a call. A later version that needs
 * other behavior creates functions with new names, because older servers continue to call these.
 */
export const statements: readonly string[] = [
  `create table buckets (
    "projectId" ${text} primary key references projects on delete cascade,
    "fullAtUs" bigint not null
  ) ${freeSpace}`,
  // A new project gets a bucket at once, so that two simultaneous first calls can lock its row.
  `create function "addBucket"() returns trigger language plpgsql as $$ begin
    insert into buckets ("projectId", "fullAtUs") values (new."projectId", 0);
    return null;
  end $$`,
  `create trigger projects_add_bucket after insert on projects
    for each row execute function "addBucket"()`,

  // `response` is encrypted with a key derived from the request, so the database cannot decrypt it.
  `create table attempts (
    "projectId" ${text} not null, "requestId" ${text} not null,
    "keyId" ${text} not null, action ${text} not null,
    fingerprint bytea not null check (length(fingerprint) = 32),
    state ${text} not null check (state in ('running', 'done')), token ${text} not null,
    "reservedMicros" bigint not null check ("reservedMicros" >= 0),
    "deadlineMs" bigint not null, "windowStartMs" bigint not null,
    code ${text}, response bytea, scrubbed bytea,
    primary key ("projectId", "requestId"),
    check ((state = 'done') = (code is not null)), check (state = 'done' or response is null),
    check (state = 'running' or "reservedMicros" = 0)
  )`,
  `create index attempts_running on attempts ("deadlineMs") where state = 'running'`,
  'create index attempts_by_age on attempts ("windowStartMs")',
  `create table "responseSubjects" (
    "subjectId" ${text} not null, "projectId" ${text} not null, "requestId" ${text} not null,
    primary key ("subjectId", "projectId", "requestId"),
    foreign key ("projectId", "requestId") references attempts on delete cascade
  )`,
  'create index subjects_of_response on "responseSubjects" ("projectId", "requestId")',

  // Challenges to prove liveness, and the tokens of people who did. Rows live for minutes.
  `create table "livenessChallenges" (
    "challengeId" ${text} primary key,
    "projectId" ${text} not null references projects on delete cascade,
    steps ${text} not null, "expiresAtMs" bigint not null, "spentAtMs" bigint,
    ${flag('failed', 0)},
    check (failed = 0 or "spentAtMs" is not null)
  )`,
  `create index open_challenges on "livenessChallenges" ("projectId", "expiresAtMs")
    where "spentAtMs" is null`,
  `create index failed_challenges on "livenessChallenges" ("projectId", "spentAtMs")
    where failed = 1`,
  'create index challenges_by_expiry on "livenessChallenges" ("expiresAtMs")',
  `create table "livenessTokens" (
    ${hash('tokenHash')} primary key,
    "projectId" ${text} not null references projects on delete cascade,
    "modelId" ${text} not null, ciphertext bytea not null, "expiresAtMs" bigint not null
  )`,
  'create index liveness_tokens_by_expiry on "livenessTokens" ("expiresAtMs")',

  // The request log has no foreign keys to projects and keys, because it outlives them. `costMicros`
  // is the charged amount, so that the log and the ledger match. `outcome` has no check: later versions
  // add outcomes.
  //
  // It is partitioned by month (UTC), so that an old month is dropped as a whole. Partitions are
  // created in advance, see `log-partitions.ts`. A row without a partition is in `calls_rest` until its
  // partition is created.
  'create sequence "callIds"',
  `create table calls (
    "callId" bigint not null default nextval('"callIds"'), "atMs" bigint not null,
    "keyId" ${text} not null, "projectId" ${text} not null, "requestId" ${text} not null,
    action ${text} not null check (length(action) <= 128),
    code ${text} not null, "latencyMs" double precision not null,
    "costMicros" bigint not null check ("costMicros" >= 0),
    "meteredMicros" bigint not null default 0
      check ("meteredMicros" >= 0 and ("meteredMicros" = 0 or "transferId" is null)),
    "isReplay" integer not null check ("isReplay" in (0, 1)),
    "transferId" bigint references "ledgerTransfers", detail ${text},
    outcome ${text}, similarity double precision, "livenessScore" double precision,
    threshold double precision, margin double precision, quality double precision,
    reason ${text}, ${flag('nearMiss', 0)},
    primary key ("callId", "atMs"),
    check (("transferId" is null) = ("costMicros" = 0))
  ) partition by range ("atMs")`,
  'create table calls_rest partition of calls default',
  // Each filter of the log has an index in the order of the log. Only failures have indexes by code:
  // rows with `OK` are found quickly without one.
  'create index calls_by_time on calls ("atMs")',
  'create index calls_by_project on calls ("projectId", "atMs")',
  'create index calls_by_key on calls ("keyId", "atMs")',
  'create index calls_by_action on calls (action, "atMs")',
  'create index calls_by_request on calls ("requestId")',
  `create index calls_failed on calls (code, "atMs") where code <> 'OK'`,
  `create index calls_failed_by_time on calls ("atMs") where code <> 'OK'`,
  `create index calls_without_success on calls (outcome, "atMs")
    where outcome not in ('match', 'live', 'passed')`,
  'create index calls_near_miss on calls ("atMs") where "nearMiss" = 1',
  `create unique index one_call_per_charge on calls ("transferId", "atMs")
    where "transferId" is not null`,
  // The time up to which old rows of the log were deleted.
  `create table watermarks (name ${text} primary key, "valueMs" bigint not null)`,

  // Hourly counts, so that a chart of millions of calls reads thousands of rows.
  `create table "callHours" (
    "hourMs" bigint not null,
    "projectId" ${text} not null, "keyId" ${text} not null, action ${text} not null,
    code ${text} not null, outcome ${text} not null default '', calls bigint not null, billed bigint not null,
    "costMicros" bigint not null, "meteredMicros" bigint not null default 0,
    latencies integer[] not null check (array_length(latencies, 1) = 80),
    primary key ("hourMs", "projectId", "keyId", action, code, outcome)
  ) ${freeSpace}`,
  'create index hours_by_key on "callHours" ("keyId", "hourMs")',
  `create function "addLatencies"(a integer[], b integer[]) returns integer[]
    language plpgsql immutable strict parallel safe as $$ begin
    for at in 1..80 loop a[at] := a[at] + b[at]; end loop;
    return a;
  end $$`,
  `create aggregate "sumLatencies"(integer[]) (
    sfunc = "addLatencies", stype = integer[], initcond = '{${Array(80).fill(0).join(',')}}',
    combinefunc = "addLatencies", parallel = safe
  )`,
  `create table "scoreHours" (
    "projectId" ${text} not null,
    kind ${text} not null check (kind in ('similarity', 'liveness')),
    "hourMs" bigint not null, bin integer not null check (bin between 0 and 49),
    count bigint not null, matched bigint not null,
    primary key ("projectId", kind, "hourMs", bin)
  ) ${freeSpace}`,
  ...secure(ofProject, 'buckets', 'attempts', 'responseSubjects', 'calls'),
  ...secure(ofProject, 'callHours', 'scoreHours', 'livenessChallenges', 'livenessTokens'),
  ...admitCalls,
  ...settleCalls,
]
