import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { allActions } from '../../src/actions/all-actions.ts'
import { comprefaceRoutes } from '../../src/compreface/compreface-routes.ts'
import { consoleRoutes } from '../../src/console/routes.ts'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import { readCalls } from '../../src/store/gate/calls.ts'
import { startConsole, type TestConsole } from '../support/console/test-console.ts'
import type { GalleryClient } from '../support/gallery/test-gallery.ts'
import { createTestSteadyClock } from '../support/gate/test-steady-clock.ts'
import { textPaths, valueWithText } from '../support/text-fields.ts'

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole({
    environment: { COMPREFACE_API: 'on' },
    wrapStore: createTestSteadyClock().wrapStore,
  })
})
after(() => testConsole[Symbol.asyncDispose]())

const nul = 'a\0b'
const halfPair = 'a\uD800b'

/** Creates a project with a token for each call. No token is added while the clock stands still. */
async function newProject() {
  const { database, createProjectClient } = testConsole.gallery
  const client = await createProjectClient({ galleryMode: 'isolated' })
  const limits = { sustainedPerS: 1, burst: 100_000 }
  const { db } = database.store
  const { projectId } = client.project
  await db.updateTable('projects').set(limits).where('projectId', '=', projectId).execute()
  return client
}

type ProjectClient = Awaited<ReturnType<typeof newProject>>

/** Returns the logged calls of a project, the oldest first. */
async function loggedCalls({ project: { projectId } }: ProjectClient) {
  const filter = { projectId, limit: 1000 }
  const { store } = testConsole.gallery.database
  return (await store.read((tx) => readCalls(tx, filter))).toReversed()
}

async function remainingTokens(client: ProjectClient): Promise<number> {
  const { headers } = await client.rest('GET', '/v1/groups')
  return Number(headers.get('ratelimit-remaining'))
}

/** Checks that the calls were logged without costs, and that each consumed a token. */
async function assertRefused(client: ProjectClient, send: () => Promise<number>): Promise<void> {
  const tokensBefore = await remainingTokens(client)
  const callsBefore = (await loggedCalls(client)).length
  const sentCalls = await send()
  assert.ok(sentCalls > 0)
  const calls = (await loggedCalls(client)).slice(callsBefore)
  assert.equal(calls.length, sentCalls, 'each call has a row')
  for (const { code, costMicros, action } of calls) {
    assert.equal(code, 'INVALID_REQUEST', action)
    assert.equal(costMicros, 0n)
    assert.ok(!action.includes('\0'), action)
  }
  // The call that reads the tokens consumes one, too.
  assert.equal(tokensBefore - (await remainingTokens(client)), sentCalls + 1)
}

async function sendJson(client: GalleryClient, method: string, path: string, body?: unknown) {
  const response = await fetch(`${client.url}${path}`, {
    method,
    headers: { 'x-api-key': client.key, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}

/** Returns the URL paths in which one `:name` is this text, already encoded. */
function pathsWithText(path: string, encoded: string): string[] {
  const names = [...path.matchAll(/:(\w+)/gu)].map(([name]) => name)
  return names.map((changed) =>
    names.reduce((url, name) => url.replace(name, name === changed ? encoded : randomUUID()), path),
  )
}

test('An action with a text that a database cannot store is refused, in every parameter', async () => {
  const client = await newProject()
  await assertRefused(client, async () => {
    let sentCalls = 0
    for (const { name, params } of allActions)
      for (const path of textPaths(params))
        for (const text of [nul, halfPair]) {
          const { status, body } = await client.call(name, valueWithText(path, text) as object)
          assert.equal(status, 200, `${name} ${path.join('.')}: ${JSON.stringify(body)}`)
          assert.equal(body.errors[0].code, 'INVALID_REQUEST')
          sentCalls++
        }
    return sentCalls
  })
})

test('An action name with a text that a database cannot store is refused, and echoed up to a limit', async () => {
  const client = await newProject()
  const echoes = new Map([
    [`svc.${nul}`, 'svc.a\uFFFDb'],
    [`svc.${halfPair}`, 'svc.a\uFFFDb'],
    ['x'.repeat(128), 'x'.repeat(128)],
    ['x'.repeat(129), 'x'.repeat(128)],
    ['x'.repeat(200_000), 'x'.repeat(128)],
    ['x'.repeat(1_000_000), ''],
    [`${'x'.repeat(127)}😀`, `${'x'.repeat(127)}\uFFFD`],
  ])
  await assertRefused(client, async () => {
    for (const [action, echoed] of echoes) {
      const { status, body } = await client.call(action, {})
      assert.equal(status, 200)
      assert.equal(body.errors[0].code, 'INVALID_REQUEST')
      assert.equal(body.action, echoed)
    }
    return echoes.size
  })
})

test('A REST route refuses such a text in every parameter, path segment and cursor', async () => {
  const client = await newProject()
  await assertRefused(client, async () => {
    const urls = restRoutes.flatMap(({ method, path, query }) => {
      const base = path.replaceAll(/:\w+/gu, randomUUID())
      const queries = textPaths(query).map(([name]) => `${base}?${String(name)}=a%00b`)
      return [...queries, ...pathsWithText(path, 'a%00b')].map((url) => ({ method, url }))
    })
    for (const position of [
      [nul, 'x'],
      ['x', halfPair],
    ]) {
      const cursor = Buffer.from(JSON.stringify(position)).toString('base64url')
      urls.push({ method: 'GET', url: `/v1/subjects?cursor=${cursor}` })
    }
    urls.push({ method: 'GET', url: '/v1/subjects?q=a%00b&q=c' })
    for (const { method, url } of urls) {
      const sent = method === 'POST' ? { name: 'other' } : undefined
      const { status, body } = await client.rest(method, url, sent)
      assert.equal(status, 400, `${url}: ${JSON.stringify(body)}`)
      assert.match(body.detail, /must not contain|cursor|must be sent once/u)
    }
    return urls.length
  })
})

test('A CompreFace route refuses such a text in its parameters, its path and its body', async () => {
  const client = await newProject()
  // The list of routes needs no service.
  const options = {} as Parameters<typeof comprefaceRoutes>[0]
  const recognition = '/api/v1/recognition'
  await assertRefused(client, async () => {
    const requests: (readonly [string, string, unknown?])[] = [
      ['POST', `${recognition}/subjects`, { subject: nul }],
      ['POST', `${recognition}/subjects`, { subject: halfPair }],
      ['PUT', `${recognition}/subjects/anna`, { subject: nul }],
      ['POST', `${recognition}/faces/delete`, [nul]],
    ]
    for (const { method, path } of comprefaceRoutes(options)) {
      // It reads nothing of the request and always returns 404.
      if (path.startsWith('/api/v1/static/')) continue
      const base = path.replaceAll(/:\w+/gu, randomUUID())
      requests.push([method, `${base}?subject=a%00b`])
      for (const url of pathsWithText(path, 'a%00b')) requests.push([method, url])
    }
    for (const [method, url, body] of requests) {
      const { status, text } = await sendJson(client, method, url, body)
      assert.equal(status, 400, `${method} ${url}: ${text}`)
    }
    return requests.length
  })
})

test('A console route refuses such a text in its parameters, its path and its body', async () => {
  const { owner } = testConsole
  const statuses = new Map<string, number>()
  for (const { method, path, query, body } of consoleRoutes) {
    const base = path.replaceAll(/:\w+/gu, randomUUID())
    const urls = [
      ...textPaths(query).map(([name]) => `${base}?${String(name)}=a%00b`),
      ...pathsWithText(path, 'a%00b'),
    ]
    const isRead = method === 'GET'
    for (const url of urls) {
      const { status } = isRead ? await owner.get(url) : await owner.send(method, url, {})
      statuses.set(`${method} ${url}`, status)
    }
    for (const textPath of isRead ? [] : textPaths(body))
      for (const text of [nul, halfPair]) {
        const { status } = await owner.send(method, base, valueWithText(textPath, text))
        statuses.set(`${method} ${base} ${textPath.join('.')} ${JSON.stringify(text)}`, status)
      }
  }
  assert.ok(statuses.size > 100, String(statuses.size))
  assert.deepEqual(
    [...statuses].filter(([, status]) => status !== 422),
    [],
  )
})

test('A sign-in name that a database cannot store is refused', async () => {
  const client = testConsole.newClient()
  const body = { name: 'Ol\0ga', password: 'x' }
  const response = await client.send('POST', '/sign-in', body)
  assert.equal(response.status, 422, response.text)
  assert.match(response.text, /body\.name: must not contain NUL/u)
})
