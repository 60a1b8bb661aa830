-- The state and the history of the servers.

create table systemServers (
  server text primary key, pid integer not null, version text not null,
  startedAtMs integer not null, reportedAtMs integer not null, stoppedAtMs integer,
  starts integer not null default 1, report text not null
) strict, without rowid

create table systemSamples (
  server text not null, atMs integer not null,
  rssBytes integer not null, heapBytes integer not null, workerBytes integer not null,
  workersUp integer not null, queuedMax integer not null,
  calls integer not null, p50Ms real, p95Ms real,
  primary key (server, atMs)
) strict, without rowid
