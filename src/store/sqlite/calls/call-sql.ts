export const insertCallSql = `insert into calls (atMs, keyId, projectId, requestId, action, code,
    latencyMs, costMicros, meteredMicros, isReplay, transferId, detail)
  values (:atMs, :keyId, :projectId, :requestId, :action, :code, :latencyMs, :costMicros,
    :meteredMicros, :isReplay, :transferId, :detail)`
