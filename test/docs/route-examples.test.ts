import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { pageFiles, rootDir } from '../../docs/build/contents.ts'
import { generatedPages } from '../../docs/build/generated-pages.ts'
import { parseOutline, type CodeBlock } from '../../docs/build/page-outline.ts'
import { contractRoutes } from '../../docs/build/pages/contract.ts'
import { fileOf, routesFolder } from '../../docs/build/pages/route-pages.ts'
import { readSamplePictures } from '../../docs/build/sample-pictures.ts'
import { allActions } from '../../src/actions/all-actions.ts'
import { serviceRoutes } from '../../src/http/routes/service-routes.ts'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import { sessionFramesPath } from '../../src/http/routes/session-frames.ts'
import { toOpenApiPath } from '../../src/http/openapi/paths.ts'
import { interpreterSkipReason } from '../support/docs/shell-blocks.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'

/** The id in the examples of the description, which the test replaces. */
const exampleSubjectId = '0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f'

const pythonSkipReason = interpreterSkipReason('python')

let folder: string
let facegate: FacegateProcess
let portrait: { readonly bytes: Buffer; readonly contentType: string }
/** A person that no threshold of 1 matches. */
let unknown: typeof portrait
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-examples-'))
  const bytes = (await readSamplePictures()).get('mia.jpg') ?? assert.fail('no portrait')
  portrait = { bytes, contentType: 'image/jpeg' }
  const other = (await readSamplePictures()).get('other.jpg') ?? assert.fail('no other portrait')
  unknown = { bytes: other, contentType: 'image/jpeg' }
  await writeFile(path.join(folder, 'photo.jpg'), bytes)
  const limits = { RATE_SUSTAINED_PER_S: '100', RATE_BURST: '200' }
  facegate = await spawnFacegate({ VISION_WORKERS: '1', ...limits })
  const settings = ['--liveness-origins', 'https://app.example.org', '--feedback', 'on']
  const command = ['project', 'set', 'default', ...settings, '--unknown-people', '30']
  const main = path.join(rootDir, 'src', 'cli', 'main.ts')
  await run('', [process.execPath, main, ...command], { DATA_DIR: facegate.dataDir })
})
after(async () => {
  await facegate?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

test('Every route that the service registers has a page, and every page a route', async () => {
  const registered = [
    ...restRoutes,
    { method: 'POST', path: '/v1/face/execute' },
    { method: 'POST', path: sessionFramesPath },
    ...serviceRoutes({
      version: '',
      limits: {},
      notReady: async () => [],
      metrics: async () => '',
    }),
  ]
  const described = new Map(
    contractRoutes.map((route) => [
      `${route.method} ${route.path}`,
      `${routesFolder}/${fileOf(route)}`,
    ]),
  )
  for (const { method, path: routePath } of registered) {
    const name = `${method} ${toOpenApiPath(routePath)}`
    const file = described.get(name) ?? assert.fail(`no page describes ${name}`)
    const text = await readFile(path.join(rootDir, file), 'utf8')
    assert.match(text, new RegExp(`^#+ \`${RegExp.escape(name)}\`$`, 'mu'), file)
  }
  const files = globSync(`${routesFolder}/**/*.md`, { cwd: rootDir })
  const expected = new Set([`${routesFolder}/README.md`, ...described.values()])
  assert.deepEqual(files.toSorted(), [...expected].toSorted())
  for (const file of expected) {
    assert.ok(pageFiles.includes(file), file)
    assert.equal(await readFile(path.join(rootDir, file), 'utf8'), generatedPages[file]?.())
  }
})

test('The page of a route lists its parameters, its errors and its permission', async () => {
  for (const route of contractRoutes.filter(({ tags }) => !tags.includes('service'))) {
    const text = await readFile(path.join(rootDir, routesFolder, fileOf(route)), 'utf8')
    for (const { name, in: location } of route.parameters)
      assert.match(text, new RegExp(`^\\| \`${name}\`.* \\| ${location} \\|`, 'mu'))
    for (const status of Object.keys(route.responses).filter((code) => code !== '200'))
      assert.match(text, new RegExp(`^\\| ${status} \\| .+ \\|$`, 'mu'))
    const { permission } =
      restRoutes.find(({ method, path: routePath }) => {
        return method === route.method && toOpenApiPath(routePath) === route.path
      }) ?? {}
    if (permission) assert.ok(text.includes(`Needs the permission \`${permission}\``))
  }
})

/** The example of each language in a part of a page. */
async function examplesOf(file: string, section = ''): Promise<Record<string, CodeBlock>> {
  const text = await readFile(path.join(rootDir, file), 'utf8')
  const [, part = ''] = text.split(section === '' ? /(?=^# )/mu : section)
  const { blocks } = parseOutline(section === '' ? text : part.split(/^## /mu)[0]!)
  const entries = blocks.map((block) => [block.attributes['tab'] ?? '', block] as const)
  return Object.fromEntries(entries.filter(([tab]) => tab !== ''))
}

type Variables = Readonly<Record<string, string>>

/** Runs an example and returns what it printed. */
async function run(
  text: string,
  command: readonly string[],
  variables: Variables,
): Promise<string> {
  const [program = '', ...args] = command
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      KEY: facegate.key,
      PYTHONPATH: path.join(rootDir, 'clients', 'python'),
      PYTHONDONTWRITEBYTECODE: '1',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...variables,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stdin.end(text.replaceAll('http://127.0.0.1:8080', facegate.url))
  const code = await new Promise((resolve) => child.once('close', resolve))
  assert.equal(code, 0, `${text}\n${output}`)
  return output
}

const clientModule = path.join(rootDir, 'client', 'src', 'node.ts')

/** Runs an example in three languages. `prepare` returns the variables of each run of a text. */
async function runAll(
  { curl, TypeScript: typescript, Python: python }: Record<string, CodeBlock>,
  prepare: (text: string) => Promise<Variables>,
  setup: Record<string, CodeBlock> = {},
): Promise<void> {
  assert.ok(curl && typescript && python)
  const inId = (block: CodeBlock, variables: Variables): string =>
    block.text.replaceAll(exampleSubjectId, variables['SUBJECT_ID'] ?? exampleSubjectId)
  const forShell = await prepare(curl.text)
  const shellOutput = await run(inId(curl, forShell), ['bash', '-e', '-u', '-s'], forShell)
  assert.doesNotMatch(shellOutput, /^\{"(?:ok":false|detail")/u, curl.text)
  const forNode = await prepare(typescript.text)
  const source = [setup['TypeScript']?.text, inId(typescript, forNode)].join('\n')
  const module = path.join(folder, 'example.ts')
  const imported = source.replaceAll("'facegate-client'", `'${clientModule}'`)
  await writeFile(module, imported.replaceAll('http://127.0.0.1:8080', facegate.url))
  assert.match(await run('', [process.execPath, module], forNode), /^(?![45]\d\d )./u)
  if (pythonSkipReason) return
  const forPython = await prepare(python.text)
  const script = [setup['Python']?.text, inId(python, forPython)].join('\n')
  assert.notEqual(await run(script, ['python3', '-'], forPython), '')
}

/**
 * Creates a subject of two groups and what an example uses of: a call that matches the subject, a
 * visitor, and a session. The call has the id of the subject, which replaces that of the examples.
 */
async function createTargets(text: string): Promise<Variables> {
  const params = { groups: ['staff', 'visitors'], duplicateCheck: 'off' }
  const { body } = await facegate.run('svc.enroll', portrait, params)
  const subjectId = body.data.results[0].value.subjectId as string
  if (text.includes('requestId')) await identify(subjectId)
  return {
    SUBJECT_ID: subjectId,
    ...(text.includes('VISITOR_ID') && { VISITOR_ID: await createVisitor() }),
    ...(text.includes('SESSION_ID') && (await createSession())),
  }
}

async function identify(requestId: string): Promise<void> {
  const image = { kind: 'image', ...portrait, bytes: portrait.bytes.toString('base64') }
  const call = { action: 'svc.identify', requestId, params: { images: [image] } }
  const identified = await facegate.post(call)
  assert.equal(identified.body.data.results[0].value.matched, true)
}

async function createVisitor(): Promise<string> {
  const search = await facegate.run('svc.identify', unknown, { threshold: 1 })
  return search.body.data.results[0].value.faces[0].visitorId as string
}

async function createSession(): Promise<Variables> {
  const response = await fetch(`${facegate.url}/v1/liveness/sessions`, {
    method: 'POST',
    headers: { 'x-api-key': facegate.key, 'content-type': 'application/json' },
    body: '{}',
  })
  const session = (await response.json()) as { sessionId: string; sessionToken: string }
  return { SESSION_ID: session.sessionId, SESSION_TOKEN: session.sessionToken }
}

for (const route of contractRoutes.filter(({ tags }) => !tags.includes('service')))
  test(`The examples of ${route.method} ${route.path} run`, async (t) => {
    if (pythonSkipReason) t.diagnostic(`NOT RUN: Python: ${pythonSkipReason}`)
    // A group is renamed once for each language.
    const removeRenamed = async (text: string): Promise<Variables> => {
      await fetch(`${facegate.url}/v1/groups/employees`, {
        method: 'DELETE',
        headers: { 'x-api-key': facegate.key },
      })
      return createTargets(text)
    }
    await runAll(await examplesOf(`${routesFolder}/${fileOf(route)}`), removeRenamed)
  })

for (const { name } of allActions)
  test(`The examples of ${name} on the page of the actions run`, async () => {
    const setup = await examplesOf('docs/reference/actions.md', '# Actions')
    const examples = await examplesOf('docs/reference/actions.md', `## \`${name}\`\n`)
    await runAll(examples, createTargets, setup)
  })
