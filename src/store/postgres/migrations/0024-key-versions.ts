import { sql, type Kysely, type Migration } from 'kysely'
import { settleCalls } from './settle-calls.ts'

/**
 * Functions with which a server remembers keys. `findCallKey` also returns the version of the rows that
 * it read. `admitKeyCall` admits a call only if the key and its project still have that version, so
 * a server need not read the key before each call.
 *
 * `settleCalls` completes several calls of a project with the same number of statements as one.
 *
 * They replace `findKeyBySecret`, `admitCall` and `settleCall`, which older servers continue to call.
 */
export const keyVersions: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [findCallKey, admitKeyCall, ...settleCalls])
    await sql.raw(statement).execute(db)
}

/** The transactions that wrote both rows. Every change of a row is a new transaction. */
const versionSql = `k.xmin::text || ' ' || p.xmin::text`

/** Finds the key of a call. Its account is unknown before, so the scope is all accounts. */
const findCallKey = `
  create function "findCallKey"("wanted" bytea) returns setof jsonb
  language plpgsql as $$
  begin
    perform set_config('facegate.account', '*', true);
    return query select to_jsonb(p) || jsonb_build_object('keyId', k."keyId",
        'permissions', k.permissions, 'expiresAtUtc', k."expiresAtUtc",
        'revokedAtUtc', k."revokedAtUtc", 'isFormer', k.hash <> "wanted",
        'formerEndsAtUtc', k."formerEndsAtUtc", 'formerLastUsedAtUtc', k."formerLastUsedAtUtc",
        'galleryId',
        case p."galleryMode" when 'shared' then p."accountId" else p."projectId" end,
        'version', ${versionSql})
      from keys k join projects p using ("projectId")
      where k.hash = "wanted" or k."formerHash" = "wanted";
  end $$`

/**
 * Admits a call if all conditions are met: the key and its project have the version that the server
 * remembers, the key is valid and has the permissions, a rate-limit token is available, the request
 * id is new, and the budget covers the price unless billing is off. Otherwise it changes nothing and
 * returns no row. The gate then checks the conditions one by one and returns the error.
 *
 * The row of the bucket is locked first, so the admissions of a project run one by one.
 */
const admitKeyCall = `
  create function "admitKeyCall"("forAccount" text, "ofKeyId" text, "seenVersion" text,
    "ofAction" text, "ofRequestId" text, "needed" text[], "nowMs" bigint, "nowUtc" text,
    "touchedBeforeUtc" text, "steadyUs" bigint, "usualPerS" integer, "usualBurst" integer,
    "usualMicros" bigint, "units" bigint, "ofFingerprint" bytea, "ofToken" text, "dueMs" bigint)
  returns table ("fullAtUs" bigint, "sustainedPerS" integer, burst integer, "unitMicros" bigint,
    billing integer)
  language plpgsql as $$
  declare
    known record;
    "intervalUs" bigint;
    "capacityUs" bigint;
    "storedUs" bigint;
    "newUs" bigint;
    "priceMicros" bigint;
  begin
    perform set_config('facegate.account', "forAccount", true);
    select k."projectId", k.permissions::jsonb as permissions, k."expiresAtUtc", k."revokedAtUtc",
        k."lastUsedAtUtc", p."sustainedPerS", p.burst, p.billing, prices."unitMicros",
        b."fullAtUs", ${versionSql} as version
      into known
      from keys k join projects p using ("projectId") join buckets b using ("projectId")
      left join prices on prices."accountId" = p."accountId" and prices.action = "ofAction"
      where k."keyId" = "ofKeyId";
    if not found or known.version <> "seenVersion" or known."revokedAtUtc" is not null
      or known."expiresAtUtc" <= "nowUtc"
      or not (known.permissions ? '*' or known.permissions ?& "needed") then return; end if;
    "intervalUs" := ceil(1000000.0 / coalesce(known."sustainedPerS", "usualPerS"));
    "capacityUs" := "intervalUs" * coalesce(known.burst, "usualBurst");
    "priceMicros" := case when known.billing = 0 then 0
      else "units" * coalesce(known."unitMicros", "usualMicros") end;
    -- This check needs no lock.
    if greatest(known."fullAtUs" - "steadyUs", 0) + "intervalUs" > "capacityUs" then return; end if;

    select b."fullAtUs" into "storedUs" from buckets b
      where b."projectId" = known."projectId" for update;
    "newUs" := greatest("storedUs", "steadyUs") + "intervalUs";
    if "newUs" - "steadyUs" > "capacityUs" then return; end if;
    perform from attempts a where a."projectId" = known."projectId" and a."requestId" = "ofRequestId";
    if found then return; end if;
    if "priceMicros" > 0 then
      update ledgers set "reservedMicros" = "reservedMicros" + "priceMicros"
        where ledger = 'budget:' || known."projectId"
          and "balanceMicros" - "reservedMicros" >= "priceMicros";
      if not found then return; end if;
    end if;
    insert into attempts ("projectId", "requestId", "keyId", action, fingerprint, state, token,
        "reservedMicros", "deadlineMs", "windowStartMs")
      values (known."projectId", "ofRequestId", "ofKeyId", "ofAction", "ofFingerprint", 'running',
        "ofToken", "priceMicros", "dueMs", "nowMs");
    update buckets b set "fullAtUs" = "newUs" where b."projectId" = known."projectId";
    if known."lastUsedAtUtc" is null or known."lastUsedAtUtc" <= "touchedBeforeUtc" then
      update keys set "lastUsedAtUtc" = "nowUtc" where "keyId" = "ofKeyId";
    end if;
    return query select "storedUs", known."sustainedPerS", known.burst, known."unitMicros",
      known.billing;
  end $$`
