import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { allocate, topUp } from '../../../src/billing/ledger.ts'
import { createAdmitRequest, type AdmitRequest } from '../../../src/gate/admission/admit-request.ts'
import { ActionError, HttpError } from '../../../src/lib/errors.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createInitialProject } from '../../../src/store/tenancy/create-initial-project.ts'
import { createKey, revokeKey } from '../../../src/store/tenancy/keys.ts'
import {
  createProject,
  findProject,
  updateProject,
  type Project,
} from '../../../src/store/tenancy/projects.ts'
import { defaultSwitches } from '../../../src/store/tenancy/switches.ts'
import { createMigratedDatabase, openStoreAt } from '../database/engine.ts'
import type { RandomCall } from './random-call.ts'

/** A database with two projects, several keys, a price list and a webhook; tests copy it. */
export type AdmissionSnapshot = {
  readonly engine: AdmissionEngine
  /** The name of the PostgreSQL database, or the data folder of SQLite. */
  readonly database: string
  readonly accountId: string
  readonly projects: readonly [Project, Project]
  readonly keys: readonly { readonly keyId: string; readonly projectId: string }[]
}

export type AdmissionEngine = 'PostgreSQL' | 'SQLite'

export const startMs = Date.UTC(2030, 0, 1)

export async function createAdmissionSnapshot(engine: AdmissionEngine): Promise<AdmissionSnapshot> {
  const { database, store } = await openNewStore(engine)
  const now = new Date(startMs)
  await store.runExclusive(({ db }) => createInitialProject(db, now))
  const first = await findProject(store.db, 'default')
  if (!first) throw new Error('there is no first project')
  const { accountId } = first
  const second = await createProject(
    store.db,
    { accountId, name: 'limited', galleryMode: 'isolated' },
    now,
  )
  await updateProject(store.db, second.projectId, { sustainedPerS: 2, burst: 2 })
  await store.db
    .insertInto('prices')
    .values({ accountId, action: 'svc.batch', unitMicros: 7n })
    .execute()
  const events = JSON.stringify(['budget.low', 'budget.exhausted'])
  const webhook = { webhookId: 'webhook', url: 'https://example.org/', events }
  await store.db
    .insertInto('webhooks')
    .values({ ...webhook, projectId: first.projectId, createdAtUtc: now.toISOString() })
    .execute()
  await store.write(async (tx) => {
    await topUp(tx, accountId, 1_000_000n, startMs)
    await allocate(tx, first, 9000n, startMs)
    await allocate(tx, second, 20_000n, startMs)
  })
  const addKey = async (
    { projectId }: Project,
    permissions: readonly string[],
    expiresAtUtc: string | null = null,
  ) => {
    const { keyId } = await createKey(
      store.db,
      { projectId, name: 'key', permissions, expiresAtUtc },
      now,
    )
    return { keyId, projectId }
  }
  const expiresAtUtc = new Date(startMs + 60_000).toISOString()
  const [all, limited, expiring, revoked, echo] = [
    await addKey(first, ['*']),
    await addKey(second, ['*']),
    await addKey(first, ['*'], expiresAtUtc),
    await addKey(first, ['*']),
    await addKey(first, ['svc.echo', 'debug']),
  ]
  await revokeKey(store.db, revoked.keyId, now)
  await store.close()
  // Most calls use a key that is valid and has every permission.
  const keys = [
    all,
    all,
    all,
    all,
    all,
    limited,
    limited,
    limited,
    limited,
    expiring,
    revoked,
    echo,
  ]
  return { engine, database, accountId, projects: [first, second], keys }
}

async function openNewStore(engine: AdmissionEngine) {
  if (engine === 'PostgreSQL') {
    const { name, url } = await createMigratedDatabase()
    return { database: name, store: await openStoreAt(url) }
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-admission-'))
  return { database: folder, store: await openStore(folder) }
}

/** Returns the call as the gate receives it, with everything derived from its random numbers. */
export function admitRequestOf(
  { accountId, keys }: AdmissionSnapshot,
  call: RandomCall,
  { nowMs, token }: { readonly nowMs: number; readonly token: string },
): AdmitRequest {
  const key = keys[call.key]
  if (!key) throw new RangeError('there is no such key')
  const { action, debug } = call
  const { projectId } = key
  const ids = { ...key, accountId, galleryId: projectId }
  const caller = {
    ...ids,
    permissions: ['*'],
    switches: defaultSwitches,
    matchWebhooks: 0,
    isFrozen: 0,
    state: 'active',
    ...(call.isOutdated && { version: 'of an earlier change' }),
  } as const
  const requestId = `request-${call.request}`
  const params = { content: call.content, ...(action === 'svc.batch' && { images: ['a', 'b'] }) }
  return {
    ...createAdmitRequest(
      {
        requestId: call.isUpperCase ? requestId.toUpperCase() : requestId,
        action,
        startMs: performance.now(),
        atMs: nowMs,
        caller,
      },
      {
        action: { price: prices[action] },
        params,
        debug,
        permissions: debug ? [action, 'debug'] : [action],
      },
    ),
    token,
  }
}

/** Why a call cannot be read. */
export const readErrors = {
  none: undefined,
  action: new ActionError('INVALID_REQUEST', 'invalid'),
  http: new HttpError(400, 'unreadable'),
}

const prices: Readonly<Record<RandomCall['action'], (imageCount: number) => number>> = {
  'svc.echo': () => 1,
  'svc.batch': (imageCount) => 2 * imageCount,
  'svc.free': () => 0,
}
