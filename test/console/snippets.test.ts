import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { curlOf, pythonOf, typeScriptOf, type SnippetCall } from '../../web/playground/snippets.ts'
import {
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'

const run = promisify(execFile)

/** The file name contains special characters of shells and of JavaScript. */
const call: SnippetCall = {
  action: 'svc.detect',
  params: { maxFaces: 1, facePolicy: 'largest' },
  debug: false,
  images: [{ name: `it's "$HOME" \`x\`.jpg`, contentType: 'image/jpeg' }],
}

let facegate: TestFacegate
let folder = ''

before(async () => {
  facegate = await startFacegate()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-snippets-'))
  const { bytes } = await samplePhotograph(1)
  for (const { name } of call.images) await writeFile(path.join(folder, name), bytes)
})

after(async () => {
  await facegate[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const options = () => ({ cwd: folder, env: { ...process.env, FACEGATE_KEY: facegate.key } })

test('The TypeScript snippet of the playground runs unchanged', async () => {
  const script = typeScriptOf(call, facegate.url)
  const args = ['--input-type=module-typescript', '--eval', script]
  const { stdout } = await run(process.execPath, args, options())
  assert.match(stdout, /faceCount: [1-9]/u)
})

test('The Python snippet of the playground runs unchanged', async (t) => {
  const hasPython = await run('python3', ['--version']).then(
    () => true,
    () => false,
  )
  if (!hasPython) return t.skip('Python is not installed')
  const script = pythonOf({ ...call, debug: true }, facegate.url)
  const { stdout } = await run('python3', ['-c', script], options())
  const [result] = JSON.parse(stdout)
  assert.ok(result.value.faceCount >= 1 && result.value.debug, stdout)
})

test('The curl snippet of the playground runs unchanged', async (t) => {
  const hasCurl = await run('curl', ['--version']).then(
    () => true,
    () => false,
  )
  if (!hasCurl) return t.skip('curl is not installed')
  const { stdout } = await run('sh', ['-c', curlOf(call, facegate.url)], options())
  assert.equal(JSON.parse(stdout).ok, true, stdout)
})
