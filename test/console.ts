import assert from 'node:assert/strict'
import { makeLink } from '../src/console/setup.ts'
import type { Role } from '../src/store/users.ts'
import { startGallery, type TestGallery, type TestGalleryOptions } from './gallery.ts'

/** The service with its console, and browsers that use it. */
export type TestConsole = AsyncDisposable & {
  readonly gallery: TestGallery
  readonly url: string
  /** Somebody with a browser who is not signed in. */
  readonly visitor: () => Browser
  /** The owner, signed in. */
  readonly owner: Browser
  /** Somebody of a role, invited by the owner and signed in. */
  readonly member: (role: Role) => Promise<Browser>
  readonly projectId: string
  /** What the owner's link held. */
  readonly usedToken: string
}

/** What a browser does by itself: it keeps the cookie and says where a write comes from. */
export type Browser = {
  readonly get: (path: string) => Promise<ConsoleAnswer>
  readonly send: (method: string, path: string, body?: unknown) => Promise<ConsoleAnswer>
  /** One request with these headers and no others. */
  readonly raw: (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: unknown,
  ) => Promise<ConsoleAnswer>
  readonly cookie: () => string
  readonly csrfToken: () => string
}

export type ConsoleAnswer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // The tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

export const goodPassword = 'correct horse battery staple'

export async function startConsole(options: TestGalleryOptions = {}): Promise<TestConsole> {
  const gallery = await startGallery(options)
  const { url, books } = gallery
  const visitor = () => browserAt(url)
  const owner = visitor()
  const clock = options.clock ?? Date.now
  const token = await books.store.write((tx) => makeLink(tx, null, clock()))
  ok(await owner.send('POST', '/setup', { token, name: 'Olga', password: goodPassword }))
  const { body } = await owner.get('/projects')
  let members = 0
  return {
    gallery,
    url,
    visitor,
    owner,
    usedToken: token,
    projectId: body.items[0].projectId,
    member: async (role) => {
      const name = `${role} ${++members}`
      const invited = ok(await owner.send('POST', '/users', { name, role }))
      const member = visitor()
      const link = new URL(invited.body.inviteLink)
      const password = goodPassword
      ok(await member.send('POST', '/setup', { token: link.hash.slice(1), password }))
      return member
    },
    [Symbol.asyncDispose]: () => gallery[Symbol.asyncDispose](),
  }
}

/** @throws AssertionError unless the answer is a success. */
export function ok(answer: ConsoleAnswer): ConsoleAnswer {
  assert.equal(answer.status, 200, answer.text)
  return answer
}

export function browserAt(url: string): Browser {
  let cookie = ''
  let csrfToken = ''
  const raw: Browser['raw'] = async (method, path, headers, body) => {
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
