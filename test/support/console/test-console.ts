import assert from 'node:assert/strict'
import { createPasswordHasher } from '../../../src/console/auth/password-hasher.ts'
import { createSetupLink } from '../../../src/console/auth/setup.ts'
import type { UserRole } from '../../../src/store/console/users.ts'
import { startGallery, type TestGallery, type TestGalleryOptions } from '../gallery/test-gallery.ts'

/** A running service with its console and clients of the console API. */
export type TestConsole = AsyncDisposable & {
  readonly gallery: TestGallery
  readonly url: string
  /** Creates a client without a session. */
  readonly newClient: () => ConsoleClient
  /** The client of the signed-in owner. */
  readonly owner: ConsoleClient
  /** Invites a user with this role and returns the signed-in client. */
  readonly inviteMember: (role: UserRole) => Promise<ConsoleClient>
  readonly projectId: string
  /** The token of the owner's setup link, which is used. */
  readonly usedSetupToken: string
}

/** A client of the console API. Like a browser, it keeps the cookie and sends the origin of writes. */
export type ConsoleClient = {
  readonly get: (path: string) => Promise<ConsoleResponse>
  readonly send: (method: string, path: string, body?: unknown) => Promise<ConsoleResponse>
  /** Sends a request with exactly these headers. */
  readonly raw: (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: unknown,
  ) => Promise<ConsoleResponse>
  readonly cookie: () => string
  readonly csrfToken: () => string
}

export type ConsoleResponse = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // The tests read responses of every type.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export const validPassword = 'correct horse battery staple'

/** The least cost of a hash: the tests set and check many passwords. */
const quickHashes = { memoryKib: 8, passes: 1, lanes: 1 }

export async function startConsole(options: TestGalleryOptions = {}): Promise<TestConsole> {
  const passwordHasher = createPasswordHasher(quickHashes)
  const gallery = await startGallery({ passwordHasher, ...options })
  const { url, database } = gallery
  const newClient = () => createConsoleClient(url)
  const owner = newClient()
  const clock = options.clock ?? Date.now
  const token = await database.store.write((tx) => createSetupLink(tx, null, clock()))
  assertOk(await owner.send('POST', '/setup', { token, name: 'Olga', password: validPassword }))
  const { body } = await owner.get('/projects')
  let memberCount = 0
  return {
    gallery,
    url,
    newClient,
    owner,
    usedSetupToken: token,
    projectId: body.items[0].projectId,
    inviteMember: async (role) => {
      const name = `${role} ${++memberCount}`
      const invited = assertOk(await owner.send('POST', '/users', { name, role }))
      const member = newClient()
      const link = new URL(invited.body.inviteLink)
      const password = validPassword
      assertOk(await member.send('POST', '/setup', { token: link.hash.slice(1), password }))
      return member
    },
    [Symbol.asyncDispose]: () => gallery[Symbol.asyncDispose](),
  }
}

/** @throws AssertionError unless the status is 200. */
export function assertOk(response: ConsoleResponse): ConsoleResponse {
  assert.equal(response.status, 200, response.text)
  return response
}

export function createConsoleClient(url: string): ConsoleClient {
  let cookie = ''
  let csrfToken = ''
  const raw: ConsoleClient['raw'] = async (method, path, headers, body) => {
    const response = await fetch(`${url}/console/v1${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    const { status } = response
    const result = { status, headers: response.headers, text, body: isJson && JSON.parse(text) }
    const setCookie = response.headers.get('set-cookie')
    if (setCookie) cookie = setCookie.split(';')[0] ?? ''
    if (result.body?.csrfToken) csrfToken = result.body.csrfToken
    return result
  }
  const cookieHeader = () => ({ ...(cookie && { cookie }) })
  return {
    raw,
    get: (path) => raw('GET', path, cookieHeader()),
    send: (method, path, body) =>
      raw(method, path, { ...cookieHeader(), origin: url, 'x-csrf-token': csrfToken }, body),
    cookie: () => cookie,
    csrfToken: () => csrfToken,
  }
}
