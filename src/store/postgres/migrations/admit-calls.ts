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
    "formerEndsAtUtc" text, action text, "requestId" text, permissions text[], "nowMs" bigint,
    "nowUtc" text, "lastUsedBeforeUtc" text, "steadyUs" bigint, "sustainedPerS" integer,
    burst integer, "unitMicros" bigint, units bigint, fingerprint bytea, token text,
    "deadlineMs" bigint)`,
  `create function "admitCalls"("input" json)
  returns table (index integer, "fullAtUs" bigint, "sustainedPerS" integer, burst integer,
    "unitMicros" bigint, "reservedMicros" bigint, "isBilled" boolean)
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
        or call."formerEndsAtUtc" <= call."nowUtc"
        or not (known.permissions ? '*' or known.permissions ?& call.permissions)
      then continue; end if;
      "sustainedPerS" := coalesce(known."sustainedPerS", call."sustainedPerS");
      burst := coalesce(known.burst, call.burst);
      "intervalUs" := ceil(1000000.0 / "sustainedPerS");
      "capacityUs" := "intervalUs" * burst;
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
      "isBilled" := known.billing = 1;
      "unitMicros" := coalesce(known."unitMicros", call."unitMicros");
      "reservedMicros" := case when "isBilled" then call.units * "unitMicros" else 0 end;
      if "reservedMicros" > 0 then
        if "freeMicros" is null then
          select l."balanceMicros" - l."reservedMicros" into "freeMicros" from ledgers l
            where l.ledger = 'budget:' || "project" for update;
        end if;
        if "freeMicros" is null or "freeMicros" < "reservedMicros" then continue; end if;
        "freeMicros" := "freeMicros" - "reservedMicros";
        "heldMicros" := "heldMicros" + "reservedMicros";
      end if;
      if known."lastUsedAtUtc" is null or known."lastUsedAtUtc" <= call."lastUsedBeforeUtc" then
        if not call."keyId" = any ("touched") then
          update keys set "lastUsedAtUtc" = call."nowUtc" where "keyId" = call."keyId";
          "touched" := "touched" || call."keyId";
        end if;
      end if;
      "admitted" := "admitted" || call;
      "prices" := "prices" || "reservedMicros";
      "usedIds" := "usedIds" || call."requestId";
      "bucketUs" := "newUs";
      index := call.index;
      "fullAtUs" := "bucketUs";
      return next;
    end loop;
    if array_length("admitted", 1) is null then return; end if;

    insert into attempts ("projectId", "requestId", "keyId", action, fingerprint, state, token,
        "reservedMicros", "deadlineMs", "windowStartMs")
      select "project", c."requestId", c."keyId", c.action, c.fingerprint, 'running', c.token,
          price, c."deadlineMs", c."nowMs"
        from rows from (unnest("admitted"), unnest("prices")) as c("index", "scope", "keyId",
          "keyVersion", "formerEndsAtUtc", action, "requestId", permissions, "nowMs", "nowUtc",
          "lastUsedBeforeUtc", "steadyUs", "sustainedPerS", burst, "unitMicros", units, fingerprint,
          token, "deadlineMs", price);
    if "heldMicros" > 0 then
      update ledgers l set "reservedMicros" = l."reservedMicros" + "heldMicros"
        where l.ledger = 'budget:' || "project";
    end if;
    update buckets b set "fullAtUs" = "bucketUs" where b."projectId" = "project";
  end $$`,
  ...indexPlans('"admitCalls"(json)'),
]
