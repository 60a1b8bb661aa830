create table nodes (
  "nodeId" text collate "C" primary key,
  host text collate "C" not null, pid integer not null, version text collate "C" not null,
  "startedAtUtc" text collate "C" not null, "steadyUs" bigint not null, "dbUs" bigint not null,
  "seenAtUtc" text collate "C" not null, "hasGalleries" boolean not null
)

-- Up to which change each server has applied the removals of a gallery in memory.
create table "appliedRemovals" (
  "nodeId" text collate "C" not null references nodes on delete cascade,
  "galleryId" text collate "C" not null, sequence bigint not null,
  primary key ("nodeId", "galleryId")
)
