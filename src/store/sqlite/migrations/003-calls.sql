-- The state of the gate: rate limits, attempts and their responses, liveness sessions, the request
-- log and its hourly counts.

create table buckets (
  projectId text primary key references projects on delete cascade,
  fullAtUs integer not null
) strict, without rowid

create trigger projects_add_bucket after insert on projects when new.deletedAtUtc is null begin
  insert into buckets values (new.projectId, 0);
end

-- `response` is encrypted with a key derived from the request, so the database cannot decrypt it.
-- It is null while the call runs, and once it was dropped at the limit of stored bytes.
create table attempts (
  projectId text not null, requestId text not null,
  keyId text not null, action text not null, fingerprint blob not null check (length(fingerprint) = 32),
  state text not null check (state in ('running', 'done')), token text not null,
  reservedMicros integer not null check (reservedMicros >= 0),
  deadlineMs integer not null, windowStartMs integer not null,
  code text, response blob, scrubbed blob,
  primary key (projectId, requestId),
  check ((state = 'done') = (code is not null)), check (state = 'done' or response is null),
  check (state = 'running' or reservedMicros = 0)
) strict

create index attempts_running on attempts (deadlineMs) where state = 'running'

create index attempts_by_age on attempts (windowStartMs)

-- The stored responses of a project, which are added up and dropped at the limit of their bytes.
create index attempts_stored on attempts (projectId, windowStartMs) where response is not null

create table responseSubjects (
  subjectId text not null, projectId text not null, requestId text not null,
  primary key (subjectId, projectId, requestId),
  foreign key (projectId, requestId) references attempts on delete cascade
) strict, without rowid

create index subjects_of_response on responseSubjects (projectId, requestId)

-- Sessions to prove liveness, the challenges of their attempts, and the reference frames of people
-- who passed. `wrapped` is the secret of a session: its token and the key of its frame derive from
-- it. Rows live for minutes. A row of a session is small: a search reads several of them.
create table livenessSessions (
  sessionId text primary key,
  projectId text not null references projects on delete cascade,
  keyId text not null, requestId text, stepCount integer not null,
  requireAngles integer not null check (requireAngles in (0, 1)),
  state text not null default 'open' check (state in ('open', 'passed', 'failed')),
  attemptsLeft integer not null check (attemptsLeft >= 0),
  requestsLeft integer not null check (requestsLeft >= 0),
  masterKeyId text not null, wrapped blob not null,
  result text, expiresAtMs integer not null
) strict, without rowid

-- Of rows without a request, a project may have many.
create unique index session_of_request on livenessSessions (projectId, requestId)

create index liveness_sessions_by_expiry on livenessSessions (expiresAtMs)

create table livenessFrames (
  sessionId text primary key references livenessSessions on delete cascade,
  projectId text not null references projects on delete cascade,
  expiresAtMs integer not null, bytes integer not null,
  frame blob not null, check (bytes = octet_length(frame))
) strict

-- Contains the bytes, which are added up for each new frame.
create index frames_of_project on livenessFrames (projectId, expiresAtMs, sessionId, bytes)

create index frames_by_expiry on livenessFrames (expiresAtMs)

create table livenessChallenges (
  challengeId text primary key,
  sessionId text not null references livenessSessions on delete cascade,
  projectId text not null references projects on delete cascade,
  steps text not null, expiresAtMs integer not null, spentAtMs integer, failed integer not null default 0 check (failed in (0, 1)),
  check (failed = 0 or spentAtMs is not null)
) strict, without rowid

create index challenges_of_session on livenessChallenges (sessionId)

create index open_challenges on livenessChallenges (projectId, expiresAtMs)
  where spentAtMs is null

create index failed_challenges on livenessChallenges (projectId, spentAtMs) where failed = 1

create index challenges_by_expiry on livenessChallenges (expiresAtMs)

-- The request log has no foreign keys to projects and keys, because it outlives them. `costMicros`
-- is the charged amount, so that the log and the ledger match. `outcome` has no check: later versions
-- add outcomes.
create table calls (
  callId integer primary key, atMs integer not null,
  keyId text not null, projectId text not null, requestId text not null,
  action text not null check (length(action) <= 128),
  code text not null, latencyMs real not null,
  costMicros integer not null check (costMicros >= 0),
  meteredMicros integer not null default 0
    check (meteredMicros >= 0 and (meteredMicros = 0 or transferId is null)),
  isReplay integer not null check (isReplay in (0, 1)),
  transferId integer references ledgerTransfers, detail text,
  outcome text, similarity real, livenessScore real, threshold real, margin real, quality real,
  reason text, nearMiss integer not null default 0 check (nearMiss in (0, 1)),
  check ((transferId is null) = (costMicros = 0))
) strict

-- Each filter of the log of a project has an index in the order of the log, and so has a key. Only
-- failures have an index by code: rows with `OK` are found quickly without one.
create index calls_by_time on calls (atMs)

create index calls_by_project on calls (projectId, atMs)

create index calls_by_key on calls (keyId, atMs)

create index calls_by_action on calls (projectId, action, atMs)

create index calls_by_request on calls (requestId)

create index calls_failed on calls (projectId, code, atMs) where code <> 'OK'

create index calls_failed_by_time on calls (projectId, atMs) where code <> 'OK'

create index calls_without_success on calls (projectId, outcome, atMs)
  where outcome not in ('match', 'live', 'passed')

create index calls_near_miss on calls (projectId, atMs) where nearMiss = 1

create unique index one_call_per_charge on calls (transferId) where transferId is not null

-- The time up to which old rows of the log were deleted.
create table watermarks (name text primary key, valueMs integer not null) strict, without rowid

-- Hourly counts, so that a chart of millions of calls reads thousands of rows. `similaritySum` is in
-- ten-thousandths. `qualitySum` adds the qualities, 0..100, of the `rated` calls.
create table callHours (
  hourMs integer not null,
  projectId text not null, keyId text not null, action text not null, code text not null,
  outcome text not null default '',
  calls integer not null, billed integer not null,
  costMicros integer not null, meteredMicros integer not null default 0,
  nearMisses integer not null default 0, similaritySum integer not null default 0,
  rated integer not null default 0, qualitySum integer not null default 0,
  latencies blob not null,
  primary key (hourMs, projectId, keyId, action, code, outcome)
) strict, without rowid

create index hours_by_key on callHours (keyId, hourMs)

create table scoreHours (
  projectId text not null, kind text not null check (kind in ('similarity', 'liveness')),
  hourMs integer not null, bin integer not null check (bin between 0 and 49),
  count integer not null, matched integer not null,
  primary key (projectId, kind, hourMs, bin)
) strict, without rowid
