import type { Store } from '../../../src/store/database.ts'
import { createKey } from '../../../src/store/tenancy/keys.ts'
import { createAccount, createProject } from '../../../src/store/tenancy/projects.ts'

/** Creates an account with a row in every table that has data of accounts. */
export async function seedAccount(store: Store, name: string): Promise<string> {
  return store.runExclusive(async ({ db, tx }) => {
    const now = new Date()
    const nowUtc = now.toISOString()
    const accountId = await createAccount(db, name, now)
    const { projectId } = await createProject(db, { accountId, name, galleryMode: 'isolated' }, now)
    const { keyId } = await createKey(
      db,
      { projectId, name, permissions: ['*'], expiresAtUtc: null },
      now,
    )
    const [subjectId, faceId, requestId, galleryId] = [
      `s-${name}`,
      `f-${name}`,
      `r-${name}`,
      projectId,
    ]
    const hash = Buffer.alloc(32, name)
    await db
      .insertInto('prices')
      .values({ accountId, action: 'svc.detect', unitMicros: 1n })
      .execute()
    const chain = `wallet:${accountId}`
    await db
      .insertInto('ledgerTransfers')
      .values({
        chain,
        seq: 1,
        kind: 'topUp',
        fromLedger: 'external',
        toLedger: chain,
        amountMicros: 1n,
        atMs: 1,
        projectId: null,
        requestId: null,
        windowStartMs: null,
        rowHash: hash,
      })
      .execute()
    await db
      .insertInto('attempts')
      .values({
        projectId,
        requestId,
        keyId,
        action: 'a',
        fingerprint: hash,
        state: 'running',
        token: 't',
        reservedMicros: 0n,
        deadlineMs: 1,
        windowStartMs: 1,
        code: null,
        response: null,
        scrubbed: null,
      })
      .execute()
    await tx.logCall({
      atMs: 1,
      keyId,
      projectId,
      requestId,
      action: 'a',
      code: 'OK',
      latencyMs: 1,
      costMicros: 0n,
      meteredMicros: 0n,
      isReplay: 0,
      transferId: null,
    })
    await db
      .insertInto('scoreHours')
      .values({ projectId, kind: 'liveness', hourMs: 0, bin: 1, count: 1, matched: 1 })
      .execute()
    await db.insertInto('galleries').values({ galleryId, accountId }).execute()
    const galleryKey = { keyId: `k-${name}`, wrapped: hash, masterKeyId: 'm', createdAtMs: 1 }
    await db
      .insertInto('galleryKeys')
      .values({ ...galleryKey, galleryId })
      .execute()
    await db
      .insertInto('galleryCalibrations')
      .values({
        calibrationId: `c-${name}`,
        galleryId,
        modelId: 'm',
        subjects: 1,
        pairs: 1,
        definition: '{}',
        appliedAtUtc: nowUtc,
        appliedBy: name,
        endedAtUtc: null,
        endedBy: null,
      })
      .execute()
    await db
      .insertInto('subjects')
      .values({
        subjectId,
        galleryId,
        projectId,
        externalId: null,
        displayName: null,
        attributes: '{"team":"a"}',
        keyId: galleryKey.keyId,
        wrappedKey: hash,
        createdAtUtc: nowUtc,
        updatedAtUtc: nowUtc,
        expiresAtUtc: null,
        lastSeenAtUtc: nowUtc,
        withoutFaces: 0,
      })
      .execute()
    await db.insertInto('subjectGroups').values({ galleryId, name, subjectId }).execute()
    const otherId = `${subjectId} again`
    const other = db.selectFrom('subjects').selectAll().where('subjectId', '=', subjectId)
    const copy = { ...(await other.executeTakeFirstOrThrow()), subjectId: otherId }
    await db.insertInto('subjects').values(copy).execute()
    const decision = { decidedAtUtc: nowUtc, decidedBy: name }
    await db
      .insertInto('distinctSubjects')
      .values({ galleryId, subjectId, otherId, ...decision })
      .execute()
    const merge = { mergeId: subjectId, galleryId, subjectId, mergedAtMs: 1, expiresAtMs: 2 }
    await db
      .insertInto('subjectMerges')
      .values({ ...merge, memberships: '{}', ciphertext: hash })
      .execute()
    await db
      .insertInto('matchedSubjects')
      .values({ matchedId: subjectId, galleryId, subjectId })
      .execute()
    await db
      .insertInto('matchVerdicts')
      .values({
        verdictId: faceId,
        projectId,
        galleryId,
        matchedId: subjectId,
        requestId: faceId,
        resultIndex: 0,
        faceIndex: 0,
        modelId: 'model@1',
        ciphertext: hash,
        matchedAtMs: 1,
        expiresAtMs: null,
        verdict: 'denied',
      })
      .execute()
    await db
      .insertInto('nearMissCrops')
      .values({
        cropId: faceId,
        projectId,
        subjectId,
        requestId: faceId,
        storedAtMs: 1,
        expiresAtMs: 2,
        ciphertext: hash,
      })
      .execute()
    await db
      .insertInto('matchDays')
      .values({ subjectId, projectId, day: '2026-01-02', matches: 3 })
      .execute()
    await db
      .insertInto('faces')
      .values({
        faceId,
        subjectId,
        galleryId,
        sequence: 1,
        qualityScore: 1,
        createdAtUtc: nowUtc,
      })
      .execute()
    await db
      .insertInto('templates')
      .values({ faceId, galleryId, modelId: 'm', ciphertext: hash })
      .execute()
    const { keyId: wrappingKeyId } = galleryKey
    const page = { afterSequence: 0, toSequence: 1, faces: 1, modelIds: '["m"]' }
    await db
      .insertInto('galleryPages')
      .values({ galleryId, ...page, keyId: wrappingKeyId, wrappedKey: hash, ciphertext: hash })
      .execute()
    await db.insertInto('crops').values({ faceId, projectId, ciphertext: hash }).execute()
    await db.insertInto('removals').values({ galleryId, sequence: 1, subjectId }).execute()
    await db
      .insertInto('deletions')
      .values({
        deletionId: `d-${name}`,
        galleryId,
        accountId,
        subjectId: `deleted-${name}`,
        mergedInto: null,
        formerIds: '[]',
        groups: '[]',
        externalId: null,
        embeddingCount: 1,
        deletedAtUtc: nowUtc,
        rowHash: hash,
      })
      .execute()
    await db
      .insertInto('certificateKeys')
      .values({ accountId, publicKey: name, masterKeyId: 'm', wrapped: hash })
      .execute()
    await db
      .insertInto('livenessSessions')
      .values({
        sessionId: `l-${name}`,
        projectId,
        keyId: `k-${name}`,
        requestId: null,
        stepCount: 3,
        requireAngles: 0,
        attemptsLeft: 3,
        requestsLeft: 12,
        masterKeyId: 'm',
        wrapped: hash,
        expiresAtMs: 1,
      })
      .execute()
    const frame = { sessionId: `l-${name}`, projectId, bytes: hash.byteLength, frame: hash }
    await db
      .insertInto('livenessFrames')
      .values({ ...frame, expiresAtMs: 1 })
      .execute()
    const challenge = { challengeId: `c-${name}`, sessionId: `l-${name}`, projectId }
    await db
      .insertInto('livenessChallenges')
      .values({ ...challenge, steps: '[]', expiresAtMs: 1 })
      .execute()
    await db.insertInto('responseSubjects').values({ subjectId, projectId, requestId }).execute()
    const webhook = { webhookId: `w-${name}`, projectId, url: 'https://example.com' }
    await db
      .insertInto('webhooks')
      .values({ ...webhook, events: '[]', createdAtUtc: nowUtc })
      .execute()
    const { webhookId } = webhook
    const wrapped = { masterKeyId: 'm', wrapped: hash, createdAtMs: 1, expiresAtMs: null }
    await db
      .insertInto('webhookSecrets')
      .values({ secretId: `s-${name}`, webhookId, ...wrapped })
      .execute()
    const event = { eventId: 'e', type: 'webhook.test', data: '{}' }
    await db
      .insertInto('webhookDeliveries')
      .values({ ...event, webhookId, projectId, createdAtMs: 1, queuedAtMs: 1 })
      .execute()
    const user = { userId: `u-${name}`, accountId, name, nameKey: name, role: 'owner' as const }
    const unused = { password: null, lastSeenAtUtc: null, disabledAtUtc: null }
    await db
      .insertInto('users')
      .values({ ...user, ...unused, createdAtUtc: nowUtc })
      .execute()
    const { userId } = user
    await db
      .insertInto('sessions')
      .values({ tokenHash: hash, userId, createdAtMs: 1, lastSeenAtMs: 1, ip: '', userAgent: '' })
      .execute()
    await db
      .insertInto('secondFactors')
      .values({ userId, masterKeyId: 'm', wrapped: hash })
      .execute()
    await db.insertInto('recoveryCodes').values({ userId, codeHash: hash }).execute()
    const link = { tokenHash: hash, userId, creatorId: userId, expiresAtMs: 1 }
    await db.insertInto('links').values(link).execute()
    await db
      .insertInto('auditLog')
      .values({
        accountId,
        atMs: 1,
        userId,
        userName: name,
        auditAction: 'a',
        target: 't',
        detail: '{}',
        ip: 'i',
        rowHash: hash,
      })
      .execute()
    return accountId
  })
}
