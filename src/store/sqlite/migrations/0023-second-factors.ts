import { sql, type Kysely, type Migration } from 'kysely'

/** The second factor and the recovery codes of users, and where their sessions were started. */
export const secondFactors: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table secondFactors (
    userId text primary key references users (userId),
    masterKeyId text not null,
    wrapped blob not null,
    isConfirmed integer not null default 0 check (isConfirmed in (0, 1)),
    lastStep integer not null default 0 check (lastStep >= 0)
  ) strict, without rowid`,
  `create table recoveryCodes (
    userId text not null references users (userId),
    codeHash blob not null check (length(codeHash) = 32),
    primary key (userId, codeHash)
  ) strict, without rowid`,
  `alter table sessions add column ip text not null default ''`,
  `alter table sessions add column userAgent text not null default ''`,
]
