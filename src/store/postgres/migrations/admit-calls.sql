-- Admits the calls that meet all conditions, in their order: the key and its project have the version
-- that the server remembers, the key is valid and has the permissions, a rate-limit token is
-- available, the request id is new, and the budget covers the price unless billing is off. Each
-- admitted call has a row. The gate checks the conditions of the others one by one and returns the
-- error.
--
-- The row of the bucket is locked first, so the admissions of a project run one by one. It is locked
-- only if a call may be admitted: a project above its rate limit must not wait for it.

create type "admittedCall" as (index integer, scope text, "keyId" text, "keyVersion" text,
  "formerEndsAtUtc" text, action text, "requestId" text, permissions text[], "nowMs" bigint,
  "nowUtc" text, "lastUsedBeforeUtc" text, "steadyUs" bigint, "sustainedPerS" integer,
  burst integer, "unitMicros" bigint, units bigint, fingerprint bytea, token text,
  "deadlineMs" bigint);

create function "admitCalls"("input" json)
returns table (index integer, "fullAtUs" bigint, "sustainedPerS" integer, burst integer,
  "unitMicros" bigint, "reservedMicros" bigint, "isBilled" boolean)
language plpgsql as $$
declare
  "inputCalls" "admittedCall"[];
  call "admittedCall";
  "keyRow" record;
  "keyRowFor" text := '';
  "isLocked" boolean := false;
  "lockedProjectId" text;
  "bucketUs" bigint;
  "availableMicros" bigint;
  "admittedIds" text[] := '{}';
  "intervalUs" bigint;
  "capacityUs" bigint;
  "nextFullAtUs" bigint;
  "reservedSumMicros" bigint := 0;
  "admitted" "admittedCall"[] := '{}';
  "reservations" bigint[] := '{}';
  "updatedKeyIds" text[] := '{}';
begin
  "inputCalls" := array(
    select c from json_populate_recordset(null::"admittedCall", "input") as c);
  perform set_config('facegate.account', "inputCalls"[1].scope, true);
  foreach call in array "inputCalls" loop
    if "keyRowFor" <> call."keyId" || ' ' || call.action then
      "keyRowFor" := call."keyId" || ' ' || call.action;
      select k."projectId", k.permissions::jsonb as permissions, k."expiresAtUtc",
          k."revokedAtUtc", k."lastUsedAtUtc", p."sustainedPerS", p.burst, p.billing,
          prices."unitMicros", b."fullAtUs", k.xmin::text || ' ' || p.xmin::text as version
        into "keyRow"
        from keys k join projects p using ("projectId") join buckets b using ("projectId")
        left join prices on prices."accountId" = p."accountId" and prices.action = call.action
        where k."keyId" = call."keyId";
    end if;
    if "keyRow"."projectId" is null or "keyRow".version <> call."keyVersion"
      or "keyRow"."revokedAtUtc" is not null or "keyRow"."expiresAtUtc" <= call."nowUtc"
      or call."formerEndsAtUtc" <= call."nowUtc"
      or not ("keyRow".permissions ? '*' or "keyRow".permissions ?& call.permissions)
    then continue; end if;
    "sustainedPerS" := coalesce("keyRow"."sustainedPerS", call."sustainedPerS");
    burst := coalesce("keyRow".burst, call.burst);
    "intervalUs" := ceil(1000000.0 / "sustainedPerS");
    "capacityUs" := "intervalUs" * burst;
    -- This check needs no lock.
    if greatest("keyRow"."fullAtUs" - call."steadyUs", 0) + "intervalUs" > "capacityUs"
    then continue; end if;

    if not "isLocked" then
      "isLocked" := true;
      "lockedProjectId" := "keyRow"."projectId";
      select b."fullAtUs" into "bucketUs" from buckets b where b."projectId" = "lockedProjectId"
        for update;
      -- The project was deleted meanwhile.
      if not found then return; end if;
    end if;
    if "keyRow"."projectId" <> "lockedProjectId" then continue; end if;
    "nextFullAtUs" := greatest("bucketUs", call."steadyUs") + "intervalUs";
    if "nextFullAtUs" - call."steadyUs" > "capacityUs" then continue; end if;
    if call."requestId" = any ("admittedIds") then continue; end if;
    perform from attempts a
      where a."projectId" = "lockedProjectId" and a."requestId" = call."requestId";
    if found then continue; end if;
    "isBilled" := "keyRow".billing = 1;
    "unitMicros" := coalesce("keyRow"."unitMicros", call."unitMicros");
    "reservedMicros" := case when "isBilled" then call.units * "unitMicros" else 0 end;
    if "reservedMicros" > 0 then
      if "availableMicros" is null then
        select l."balanceMicros" - l."reservedMicros" into "availableMicros" from ledgers l
          where l.ledger = 'budget:' || "lockedProjectId" for update;
      end if;
      if "availableMicros" is null or "availableMicros" < "reservedMicros" then continue; end if;
      "availableMicros" := "availableMicros" - "reservedMicros";
      "reservedSumMicros" := "reservedSumMicros" + "reservedMicros";
    end if;
    if "keyRow"."lastUsedAtUtc" is null
      or "keyRow"."lastUsedAtUtc" <= call."lastUsedBeforeUtc" then
      if not call."keyId" = any ("updatedKeyIds") then
        update keys set "lastUsedAtUtc" = call."nowUtc" where "keyId" = call."keyId";
        "updatedKeyIds" := "updatedKeyIds" || call."keyId";
      end if;
    end if;
    "admitted" := "admitted" || call;
    "reservations" := "reservations" || "reservedMicros";
    "admittedIds" := "admittedIds" || call."requestId";
    "bucketUs" := "nextFullAtUs";
    index := call.index;
    "fullAtUs" := "bucketUs";
    return next;
  end loop;
  if array_length("admitted", 1) is null then return; end if;

  insert into attempts ("projectId", "requestId", "keyId", action, fingerprint, state, token,
      "reservedMicros", "deadlineMs", "windowStartMs")
    select "lockedProjectId", c."requestId", c."keyId", c.action, c.fingerprint, 'running',
        c.token, price, c."deadlineMs", c."nowMs"
      from rows from (unnest("admitted"), unnest("reservations")) as c("index", "scope", "keyId",
        "keyVersion", "formerEndsAtUtc", action, "requestId", permissions, "nowMs", "nowUtc",
        "lastUsedBeforeUtc", "steadyUs", "sustainedPerS", burst, "unitMicros", units, fingerprint,
        token, "deadlineMs", price);
  if "reservedSumMicros" > 0 then
    update ledgers l set "reservedMicros" = l."reservedMicros" + "reservedSumMicros"
      where l.ledger = 'budget:' || "lockedProjectId";
  end if;
  update buckets b set "fullAtUs" = "bucketUs" where b."projectId" = "lockedProjectId";
end $$;
