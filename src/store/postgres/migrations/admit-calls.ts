import { indexPlans } from './index-plans.ts'

/**
 * Admits the calls that meet all conditions, in their order: the key and its project have the version
 * that the server remembers, the key is valid and has the permissions, a rate-limit token is
 * available, the request id is new, and the budget covers the price unless billing is off. Each
 * admitted call has a row. The gate checks the conditions of the others one by one and returns the
 * error.
 *
 * The row of the bucket is locked first, so the admissions of a project run one by one. It is locked
 * only if a call may be admitted: a project above its rate limit must not wait for it.
 */
export const admitCalls: readonly string[] = [
  `create type "admittedCall" as (index integer, scope text, "keyId" text, "keyVersion" text,
    action text, "requestId" text, permissions text[], "nowMs" bigint, "nowUtc" text,
    "touchedBeforeUtc" text, "steadyUs" bigint, "sustainedPerS" integer, burst integer,
    "defaultMicros" bigint, units bigint, fingerprint bytea, token text, "deadlineMs" bigint)`,
  `create function "admitCalls"("input" json)
  returns table (index integer, "fullAtUs" bigint, "sustainedPerS" integer, burst integer,
    "unitMicros" bigint, billing integer)
  language plpgsql as $$
  declare
    "sent" "admittedCall"[];
    call "admittedCall";
    known record;
    "readFor" text := '';
    "isLocked" boolean := false;
    "project" text;
    "bucketUs" bigint;
    "freeMicros" bigint;
    "usedIds" text[] := '{}';
    "intervalUs" bigint;
    "capacityUs" bigint;
    "newUs" bigint;
    "priceMicros" bigint;
    "heldMicros" bigint := 0;
    "admitted" "admittedCall"[] := '{}';
    "prices" bigint[] := '{}';
    "touched" text[] := '{}';
  begin
    "sent" := array(select c from json_populate_recordset(null::"admittedCall", "input") as c);
    perform set_config('facegate.account', "sent"[1].scope, true);
    foreach call in array "sent" loop
      if "readFor" <> call."keyId" || ' ' || call.action then
        "readFor" := call."keyId" || ' ' || call.action;
        select k."projectId", k.permissions::jsonb as permissions, k."expiresAtUtc",
            k."revokedAtUtc", k."lastUsedAtUtc", p."sustainedPerS", p.burst, p.billing,
            prices."unitMicros", b."fullAtUs", k.xmin::text || ' ' || p.xmin::text as version
          into known
          from keys k join projects p using ("projectId") join buckets b using ("projectId")
          left join prices on prices."accountId" = p."accountId" and prices.action = call.action
          where k."keyId" = call."keyId";
      end if;
      if known."projectId" is null or known.version <> call."keyVersion"
        or known."revokedAtUtc" is not null or known."expiresAtUtc" <= call."nowUtc"
        or not (known.permissions ? '*' or known.permissions ?& call.permissions)
      then continue; end if;
      "intervalUs" := ceil(1000000.0 / coalesce(known."sustainedPerS", call."sustainedPerS"));
      "capacityUs" := "intervalUs" * coalesce(known.burst, call.burst);
      -- This check needs no lock.
      if greatest(known."fullAtUs" - call."steadyUs", 0) + "intervalUs" > "capacityUs"
      then continue; end if;

      if not "isLocked" then
        "isLocked" := true;
        "project" := known."projectId";
        select b."fullAtUs" into "bucketUs" from buckets b where b."projectId" = "project"
          for update;
      end if;
      if known."projectId" <> "project" then continue; end if;
      "newUs" := greatest("bucketUs", call."steadyUs") + "intervalUs";
      if "newUs" - call."steadyUs" > "capacityUs" then continue; end if;
      if call."requestId" = any ("usedIds") then continue; end if;
      perform from attempts a
        where a."projectId" = "project" and a."requestId" = call."requestId";
      if found then continue; end if;
      "priceMicros" := case when known.billing = 0 then 0
        else call.units * coalesce(known."unitMicros", call."defaultMicros") end;
      if "priceMicros" > 0 then
        if "freeMicros" is null then
          select l."balanceMicros" - l."reservedMicros" into "freeMicros" from ledgers l
            where l.ledger = 'budget:' || "project" for update;
        end if;
        if "freeMicros" is null or "freeMicros" < "priceMicros" then continue; end if;
        "freeMicros" := "freeMicros" - "priceMicros";
        "heldMicros" := "heldMicros" + "priceMicros";
      end if;
      if known."lastUsedAtUtc" is null or known."lastUsedAtUtc" <= call."touchedBeforeUtc" then
        if not call."keyId" = any ("touched") then
          update keys set "lastUsedAtUtc" = call."nowUtc" where "keyId" = call."keyId";
          "touched" := "touched" || call."keyId";
        end if;
      end if;
      "admitted" := "admitted" || call;
      "prices" := "prices" || "priceMicros";
      "usedIds" := "usedIds" || call."requestId";
      index := call.index;
      "fullAtUs" := "bucketUs";
      "sustainedPerS" := known."sustainedPerS";
      burst := known.burst;
      "unitMicros" := known."unitMicros";
      billing := known.billing;
      return next;
      "bucketUs" := "newUs";
    end loop;
    if array_length("admitted", 1) is null then return; end if;

    insert into attempts ("projectId", "requestId", "keyId", action, fingerprint, state, token,
        "reservedMicros", "deadlineMs", "windowStartMs")
      select "project", c."requestId", c."keyId", c.action, c.fingerprint, 'running', c.token,
          price, c."deadlineMs", c."nowMs"
        from rows from (unnest("admitted"), unnest("prices")) as c("index", "scope", "keyId",
          "keyVersion", action, "requestId", permissions, "nowMs", "nowUtc", "touchedBeforeUtc",
          "steadyUs", "sustainedPerS", burst, "defaultMicros", units, fingerprint, token,
          "deadlineMs", price);
    if "heldMicros" > 0 then
      update ledgers l set "reservedMicros" = l."reservedMicros" + "heldMicros"
        where l.ledger = 'budget:' || "project";
    end if;
    update buckets b set "fullAtUs" = "bucketUs" where b."projectId" = "project";
  end $$`,
  ...indexPlans('"admitCalls"(json)'),
]
