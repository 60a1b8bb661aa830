import { sql, type Kysely, type Migration } from 'kysely'

/**
 * Whether a project's calls are charged, and the prices of calls that were not. `costMicros` stays the
 * charged amount, so that the request log and the ledger match.
 *
 * The functions replace those of `0004-functions.ts` with the suffix AtOnce and `logCall`, which older
 * servers continue to call: until they are updated, they charge the calls of every project.
 */
export const billingSwitch: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...columns, recordCall, admitCall, settleCall])
    await sql.raw(statement).execute(db)
}

const columns = [
  'alter table projects add column billing integer not null default 1 check (billing in (0, 1))',
  `alter table calls add column "meteredMicros" bigint not null default 0
     check ("meteredMicros" >= 0 and ("meteredMicros" = 0 or "transferId" is null))`,
  'alter table "callHours" add column "meteredMicros" bigint not null default 0',
]

/** Adds a row to the request log and to its hourly count. `bucket`: the latency's, counted from 1. */
const recordCall = `
  create function "recordCall"("callAtMs" bigint, "ofKeyId" text, "ofProjectId" text,
    "ofRequestId" text, "ofAction" text, "ofCode" text, "tookMs" double precision, bucket integer,
    "paidMicros" bigint, "notPaidMicros" bigint, "wasReplay" integer, "paidBy" bigint) returns void
  language plpgsql as $$
  begin
    insert into calls ("atMs", "keyId", "projectId", "requestId", action, code, "latencyMs",
        "costMicros", "meteredMicros", "isReplay", "transferId")
      values ("callAtMs", "ofKeyId", "ofProjectId", "ofRequestId", "ofAction", "ofCode", "tookMs",
        "paidMicros", "notPaidMicros", "wasReplay", "paidBy");
    insert into "callHours" as h ("hourMs", "projectId", "keyId", action, code, calls, billed,
        "costMicros", "meteredMicros", latencies)
      values (floor("callAtMs" / 3600000.0)::bigint * 3600000, "ofProjectId", "ofKeyId", "ofAction",
        "ofCode", 1, case when "paidBy" is null then 0 else 1 end, "paidMicros", "notPaidMicros",
        array_fill(0, array[bucket - 1]) || 1 || array_fill(0, array[80 - bucket]))
      on conflict ("hourMs", "projectId", "keyId", action, code) do update set
        calls = h.calls + 1, billed = h.billed + excluded.billed,
        "costMicros" = h."costMicros" + excluded."costMicros",
        "meteredMicros" = h."meteredMicros" + excluded."meteredMicros",
        latencies[bucket] = h.latencies[bucket] + 1;
  end $$`

/**
 * Admits a call if all conditions are met: the key is valid and has the permissions, a rate-limit
 * token is available, the request id is new, and the budget covers the price unless billing is off.
 * Otherwise it writes nothing and returns no row. The gate then checks the conditions one by one and
 * returns the error.
 */
const admitCall = `
  create function "admitCall"("forAccount" text, "ofKeyId" text, "ofAction" text,
    "ofRequestId" text, "needed" text[], "nowMs" bigint, "nowUtc" text, "touchedBeforeUtc" text,
    "steadyUs" bigint, "usualPerS" integer, "usualBurst" integer, "usualMicros" bigint,
    "units" bigint, "ofFingerprint" bytea, "ofToken" text, "dueMs" bigint)
  returns table ("fullAtUs" bigint, "sustainedPerS" integer, burst integer, "unitMicros" bigint,
    billing integer)
  language plpgsql as $$
  declare
    known record;
    "intervalUs" bigint;
    "capacityUs" bigint;
    "lastUs" bigint;
    "debtUs" bigint;
    "priceMicros" bigint;
  begin
    perform set_config('facegate.account', "forAccount", true);
    select k."projectId", k.permissions::jsonb as permissions, k."expiresAtUtc", k."revokedAtUtc",
        k."lastUsedAtUtc", p."sustainedPerS", p.burst, p.billing, b."fullAtUs", prices."unitMicros"
      into known
      from keys k join projects p using ("projectId") join buckets b using ("projectId")
      left join prices on prices."accountId" = p."accountId" and prices.action = "ofAction"
      where k."keyId" = "ofKeyId";
    if not found or known."revokedAtUtc" is not null or known."expiresAtUtc" <= "nowUtc"
      or not (known.permissions ? '*' or known.permissions ?& "needed") then return; end if;
    "intervalUs" := ceil(1000000.0 / coalesce(known."sustainedPerS", "usualPerS"));
    "capacityUs" := "intervalUs" * coalesce(known.burst, "usualBurst");
    "priceMicros" := case when known.billing = 0 then 0
      else "units" * coalesce(known."unitMicros", "usualMicros") end;

    -- These checks need no lock.
    "debtUs" := least(greatest(known."fullAtUs" - "steadyUs", 0), "capacityUs");
    if "debtUs" + "intervalUs" > "capacityUs" then return; end if;
    perform from attempts a where a."projectId" = known."projectId" and a."requestId" = "ofRequestId";
    if found then return; end if;
    if "priceMicros" > 0 then
      perform from ledgers where ledger = 'budget:' || known."projectId"
        and "balanceMicros" - "reservedMicros" >= "priceMicros";
      if not found then return; end if;
    end if;

    select b."fullAtUs" into "lastUs" from buckets b
      where b."projectId" = known."projectId" for update;
    "debtUs" := least(greatest("lastUs" - "steadyUs", 0), "capacityUs");
    if "debtUs" + "intervalUs" > "capacityUs" then return; end if;
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
    update buckets b set "fullAtUs" = "steadyUs" + "debtUs" + "intervalUs"
      where b."projectId" = known."projectId";
    if known."lastUsedAtUtc" is null or known."lastUsedAtUtc" <= "touchedBeforeUtc" then
      update keys set "lastUsedAtUtc" = "nowUtc" where "keyId" = "ofKeyId";
    end if;
    return query select "lastUs", known."sustainedPerS", known.burst, known."unitMicros", known.billing;
  end $$`

/**
 * Completes a call. It stores the response for replays and the subjects in it, releases the
 * reservation, adds the charge to its hash chain, updates the counts and writes the log row. A
 * chain's hash covers the previous hash and the row as text. The caller sends that text without the
 * sequence number, which is assigned here.
 *
 * Returns the id of the charge, or 0 without a charge; no row if the caller no longer owns the
 * attempt.
 */
const settleCall = `
  create function "settleCall"("forAccount" text, "ofProjectId" text, "ofRequestId" text,
    "ofToken" text, "ofCode" text, "ofAnswer" bytea, "ofScrubbed" bytea, "named" text[],
    "heldMicros" bigint, "dueMicros" bigint, "notPaidMicros" bigint, "ofAction" text, "ofWindowStartMs" bigint,
    "nowMs" bigint, "linkBefore" text, "linkAfter" text, "scoreKinds" text[], "scoreBins" integer[],
    "scoreMatches" integer[], "callAtMs" bigint, "ofKeyId" text, "callRequestId" text,
    "callAction" text, "tookMs" double precision, bucket integer)
  returns table ("transferId" bigint) language plpgsql as $$
  declare
    head record;
    paid bigint;
    budget text := 'budget:' || "ofProjectId";
  begin
    perform set_config('facegate.account', "forAccount", true);
    update attempts a set state = 'done', "reservedMicros" = 0, code = "ofCode", answer = "ofAnswer",
        scrubbed = "ofScrubbed"
      where a."projectId" = "ofProjectId" and a."requestId" = "ofRequestId" and a.token = "ofToken"
        and a.state = 'running';
    if not found then return; end if;
    insert into "answerSubjects" ("subjectId", "projectId", "requestId")
      select distinct one, "ofProjectId", "ofRequestId" from unnest("named") as one;

    if "dueMicros" > 0 then
      update ledgers l set "reservedMicros" = l."reservedMicros" - "heldMicros",
          "balanceMicros" = l."balanceMicros" - "dueMicros", "headSeq" = l."headSeq" + 1,
          "headHash" = sha256(l."headHash"
            || convert_to("linkBefore" || (l."headSeq" + 1) || "linkAfter", 'UTF8'))
        where l.ledger = budget and l."reservedMicros" >= "heldMicros" and "heldMicros" >= "dueMicros"
        returning l."headSeq", l."headHash" into head;
      if not found then raise exception '% does not hold what was set aside', budget; end if;
      insert into "ledgerTransfers" as t (chain, seq, kind, "fromLedger", "toLedger", "amountMicros",
          "atMs", "projectId", "requestId", "windowStartMs", "rowHash")
        values (budget, head."headSeq", 'charge', budget, 'revenue:' || "ofAction", "dueMicros",
          "nowMs", "ofProjectId", "ofRequestId", "ofWindowStartMs", head."headHash")
        returning t."transferId" into paid;
    elsif "heldMicros" > 0 then
      update ledgers l set "reservedMicros" = l."reservedMicros" - "heldMicros"
        where l.ledger = budget;
      if not found then raise exception '% is missing', budget; end if;
    end if;
    for at in 1..coalesce(array_length("scoreBins", 1), 0) loop
      perform "countScore"("ofProjectId", "scoreKinds"[at],
        floor("nowMs" / 3600000.0)::bigint * 3600000, "scoreBins"[at], "scoreMatches"[at]);
    end loop;
    perform "recordCall"("callAtMs", "ofKeyId", "ofProjectId", "callRequestId", "callAction",
      "ofCode", "tookMs", bucket, "dueMicros", "notPaidMicros", 0, paid);
    return query select coalesce(paid, 0);
  end $$`
