import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { project } from '../../../src/cli/tenancy/commands.ts'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { hourMs } from '../../../src/lib/clock.ts'
import { runJson } from '../cli/run-json.ts'
import { assertOk, startConsole, validPassword } from './test-console.ts'
import { fakeImage, type FakePerson } from '../gallery/fake-vision.ts'

/** A person in a picture that differs from the enrolled one. */
export const takeOf = (name: string, take: number): FakePerson => ({ name, deviation: 1.6, take })

export const imageOf = (...people: readonly FakePerson[]) => {
  const { bytes, contentType } = fakeImage(...people)
  return { kind: 'image', bytes: bytes.toString('base64'), contentType }
}

export const pictureOf = (name: string, take: number) => ({ images: [imageOf(takeOf(name, take))] })

/** The crop of the fake vision client. */
export const cropOf = (name: string, take: number): string =>
  fakeImage(takeOf(name, take)).bytes.toString()

export type NearMissService = Awaited<ReturnType<typeof startNearMisses>>

export type NearMissClient = Awaited<ReturnType<NearMissService['createClient']>>

/** Starts a service with a console, a controlled clock and a replay window of one hour. */
export async function startNearMisses() {
  const state = { nowMs: Date.now(), analysis: Promise.resolve() }
  const environment = { REPLAY_WINDOW_MS: String(hourMs) }
  const testConsole = await startConsole({
    clock: () => state.nowMs,
    environment,
    onAnalyze: () => state.analysis,
  })
  const { gallery, owner } = testConsole
  const { store } = gallery.database
  type Client = Awaited<ReturnType<typeof gallery.createProjectClient>>
  const set = ({ project: { projectId } }: Pick<Client, 'project'>, hours: string) =>
    runJson(gallery.dataDir, project, `set ${projectId} --near-miss-crops ${hours}`)
  const callOf = async (requestId: string) =>
    assertOk(await owner.get(`/log?requestId=${requestId}`)).body.items[0]
  return {
    testConsole,
    /** The time, and what the calls of the service wait for. */
    state,
    set,
    callOf,
    /** Creates a project of the console's account with its own gallery, which keeps near misses. */
    createClient: async (hours?: string): Promise<Client> => {
      const projects = store.db.selectFrom('projects').select('accountId')
      const found = projects.where('projectId', '=', testConsole.projectId)
      const { accountId } = await found.executeTakeFirstOrThrow()
      const client = await gallery.createProjectClient({ galleryMode: 'isolated', accountId })
      if (hours !== undefined) await set(client, hours)
      return client
    },
    /** Continues after this time, with a new session of the console. */
    pass: async (ms: number): Promise<void> => {
      state.nowMs += ms
      assertOk(await owner.send('POST', '/sign-in', { name: 'Olga', password: validPassword }))
    },
    /** Shows the picture of a call. @returns the picture, or the status of the refusal. */
    show: async (requestId: string, user = owner): Promise<string | number> => {
      const { callId } = await callOf(requestId)
      const { status, body } = await user.send('POST', `/log/${callId}/picture`)
      return status === 200 ? Buffer.from(body.jpeg, 'base64').toString() : status
    },
    /** Returns until when the log offers the picture of a call; undefined if there is none. */
    offered: async (requestId: string): Promise<string | undefined> => {
      const { callId } = await callOf(requestId)
      return assertOk(await owner.get(`/log/${callId}`)).body.picture?.expiresAtUtc
    },
    rowsOf: ({ project: { projectId } }: Pick<Client, 'project'>) =>
      store.db
        .selectFrom('nearMissCrops')
        .selectAll()
        .where('projectId', '=', projectId)
        .orderBy('storedAtMs')
        .orderBy('requestId')
        .execute(),
    sweep: () => runAsAllAccounts(() => gallery.openedGallery.maintenance.sweep()),
    /** Returns the entries of the audit log about displayed pictures, the newest first. */
    displays: async () =>
      assertOk(await owner.get('/audit?auditAction=log.showPicture')).body.items,
    [Symbol.asyncDispose]: () => testConsole[Symbol.asyncDispose](),
  }
}

/** Parameters with which a picture misses its subject by 0.03. */
export async function missing<Picture extends object>(
  client: NearMissClient,
  picture: Picture,
  subject: object = {},
) {
  const params = { ...picture, threshold: 0 }
  const { similarity } = (await client.value('svc.identify', params)).bestMatch
  return { ...picture, ...subject, threshold: similarity + 0.03 }
}

/** Sends a call without a match. @returns its request id. */
export async function miss(
  client: NearMissClient,
  action: string,
  params: object,
): Promise<string> {
  const requestId = randomUUID()
  const { matched } = await client.value(action, params, { requestId })
  assert.equal(matched, false)
  return requestId
}
