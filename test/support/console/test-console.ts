import assert from 'node:assert/strict'
import { createSetupLink } from '../../../src/console/auth/setup.ts'
import type { UserRole } from '../../../src/store/console/users.ts'
import { startGallery, type TestGallery, type TestGalleryOptions } from '../gallery/test-gallery.ts'

/** The service with its console, and browsers that use it. */
export type TestConsole = AsyncDisposable & {
  readonly gallery: TestGallery
  readonly url: string
  /** Somebody with a browser who is not signed in. */
  readonly newClient: () => ConsoleClient
  /** The owner, signed in. */
  readonly owner: ConsoleClient
  /** Somebody of a role, invited by the owner and signed in. */
  readonly inviteMember: (role: UserRole) => Promise<ConsoleClient>
  readonly projectId: string
  /** What the owner's link held. */
  readonly usedSetupToken: string
}

/** What a browser does by itself: it keeps the cookie and says where a write comes from. */
export type ConsoleClient = {
  readonly get: (path: string) => Promise<ConsoleResponse>
  readonly send: (method: string, path: string, body?: unknown) => Promise<ConsoleResponse>
  /** One request with these headers and no others. */
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
  // The tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export const validPassword = 'correct horse battery staple'

export async function startConsole(options: TestGalleryOptions = {}): Promise<TestConsole> {
  const gallery = await startGallery(options)
  const { url, database: books } = gallery
  const visitor = () => createConsoleClient(url)
  const owner = visitor()
  const clock = options.clock ?? Date.now
  const token = await books.store.write((tx) => createSetupLink(tx, null, clock()))
  assertOk(await owner.send('POST', '/setup', { token, name: 'Olga', password: validPassword }))
  const { body } = await owner.get('/projects')
  let members = 0
  return {
    gallery,
    url,
    newClient: visitor,
    owner,
    usedSetupToken: token,
    projectId: body.items[0].projectId,
    inviteMember: async (role) => {
      const name = `${role} ${++members}`
      const invited = assertOk(await owner.send('POST', '/users', { name, role }))
      const member = visitor()
      const link = new URL(invited.body.inviteLink)
      const password = validPassword
      assertOk(await member.send('POST', '/setup', { token: link.hash.slice(1), password }))
      return member
    },
    [Symbol.asyncDispose]: () => gallery[Symbol.asyncDispose](),
  }
}

/** @throws AssertionError unless the answer is a success. */
export function assertOk(answer: ConsoleResponse): ConsoleResponse {
  assert.equal(answer.status, 200, answer.text)
  return answer
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
    const answer = { status, headers: response.headers, text, body: isJson && JSON.parse(text) }
    const set = response.headers.get('set-cookie')
    if (set) cookie = set.split(';')[0] ?? ''
    if (answer.body?.csrfToken) csrfToken = answer.body.csrfToken
    return answer
  }
  const own = () => ({ ...(cookie && { cookie }) })
  return {
    raw,
    get: (path) => raw('GET', path, own()),
    send: (method, path, body) =>
      raw(method, path, { ...own(), origin: url, 'x-csrf-token': csrfToken }, body),
    cookie: () => cookie,
    csrfToken: () => csrfToken,
  }
}
