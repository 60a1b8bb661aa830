import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import sharp from 'sharp'
import { contractFiles } from '../../client/contract/contract-files.ts'
import { parseOutline } from '../../docs/build/page-outline.ts'
import { findCalls } from '../support/find-calls.ts'
import { runBlocks } from '../support/docs/shell-blocks.ts'
import {
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { openDisconnectingProxy } from '../support/network/disconnecting-proxy.ts'
import { rootDir } from '../support/paths.ts'

const packageFolder = path.join(rootDir, 'clients', 'python')
const version = spawnSync('python3', ['-c', 'import sys; assert sys.version_info >= (3, 9)'])
const skip = version.status === 0 ? false : 'python3, version 3.9 or later, is not installed'

let facegate: TestFacegate
let gallery: TestGallery
let folder: string
before(async () => {
  if (skip) return
  facegate = await startFacegate({ VISION_WORKERS: '1' })
  gallery = await startGallery()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-python-'))
})
after(async () => {
  await facegate?.[Symbol.asyncDispose]()
  await gallery?.[Symbol.asyncDispose]()
  if (folder) await rm(folder, { recursive: true })
})

const generated = Object.entries(contractFiles).filter(([file]) => file.endsWith('.py'))
for (const [file, source] of generated)
  test(`${file} matches the schemas of the service`, async () => {
    const text = await readFile(path.join(rootDir, file), 'utf8')
    assert.ok(text === source(), `${file} is out of date: run \`npm run contract\``)
  })

test('The tests of the Python client pass with the running service', { skip }, async (t) => {
  await using proxy = await openDisconnectingProxy(gallery.url, (request) =>
    request % 2 === 1 ? 'beforeResponse' : undefined,
  )
  const photo = path.join(folder, 'photo.jpg')
  const { bytes } = await samplePhotograph(1)
  await writeFile(photo, await sharp(bytes).resize(640).jpeg().toBuffer())
  const { stderr } = await runPython(['-m', 'unittest', 'discover', '-t', '.', '-s', 'tests'], {
    FACEGATE_TEST_URL: gallery.url,
    FACEGATE_TEST_KEYS: (await createKeys(25)).join(' '),
    FACEGATE_BREAKING_URL: proxy.url,
    FACEGATE_REAL_URL: facegate.url,
    FACEGATE_REAL_KEY: facegate.key,
    FACEGATE_PHOTO: photo,
  })
  assert.match(stderr, /\nRan \d{2,} tests in/u)
  t.diagnostic(stderr.split('\n').slice(-4).join(' ').trim())
})

test(
  '100 calls of the Python client over connections that break are each charged once',
  {
    skip,
  },
  async () => {
    const { key, project } = await gallery.createProjectClient({ galleryMode: 'isolated' })
    const points = ['beforeRequest', 'duringRequest', 'beforeResponse', 'duringResponse'] as const
    await using proxy = await openDisconnectingProxy(gallery.url, (request) =>
      request % 10 === 9 ? points[Math.floor(request / 10) % points.length] : undefined,
    )
    const { stdout } = await runPython(['-m', 'tests.broken_connections', '100', '8'], {
      FACEGATE_URL: proxy.url,
      FACEGATE_KEY: key,
    })
    const requestIds = stdout.trim().split('\n').toSorted()
    assert.equal(new Set(requestIds).size, 100)
    const { projectId } = project
    const rows = await findCalls(gallery.database.store.db, { projectId, limit: 1000 })
    const charged = rows.filter((row) => row.transferId !== null).map((row) => row.requestId)
    assert.deepEqual(charged.toSorted(), requestIds)
    assert.ok(rows.some((row) => row.isReplay))
  },
)

test(
  'The first call of the Python tutorial runs where only Python is installed',
  { skip },
  async () => {
    const machine = path.join(folder, 'machine')
    const bin = path.join(machine, 'bin')
    await mkdir(bin, { recursive: true })
    await cp(packageFolder, path.join(machine, 'clients/python'), { recursive: true })
    const { bytes } = await samplePhotograph(3)
    const region = { left: 950, top: 80, width: 470, height: 560 }
    await writeFile(path.join(machine, 'photo.jpg'), await sharp(bytes).extract(region).toBuffer())
    // An environment without pip and without other packages. The shell finds no other program.
    await promisify(execFile)('python3', ['-m', 'venv', '--without-pip', path.join(folder, 'venv')])
    await symlink(path.join(folder, 'venv/bin/python3'), path.join(bin, 'python3'))
    const { stdout: bash } = await promisify(execFile)('which', ['bash'])
    await symlink(bash.trim(), path.join(bin, 'bash'))
    const page = await readFile(path.join(rootDir, 'docs/guides/tutorial-python.md'), 'utf8')
    const blocks = parseOutline(page).blocks.filter(({ attributes }) => !attributes['skip'])
    const [install, download, call] = blocks
    assert.ok(install?.language === 'sh' && call?.language === 'python')
    // The picture is there already.
    assert.match(download?.text ?? '', /^curl \S.* -o photo\.jpg$/mu)
    assert.equal(call.text.trim().split('\n').length, 3)
    const env = { PATH: bin, FACEGATE_URL: facegate.url, FACEGATE_KEY: facegate.key }
    const run = await runBlocks([install, call], { cwd: machine, env, url: facegate.url })
    assert.deepEqual(run, { runCount: 2, failures: [] })
  },
)

/** A Python whose pip can build packages without a network, such as that of Debian. */
const building = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import setuptools, wheel, pip']).status === 0,
)
const pipSkip = building ? false : 'no Python with pip, setuptools and wheel is installed'

test(
  'pip installs the Python client from its folder without a network',
  { skip: pipSkip },
  async () => {
    const work = await mkdtemp(path.join(tmpdir(), 'facegate-pip-'))
    await cp(packageFolder, path.join(work, 'clients/python'), { recursive: true })
    const page = await readFile(path.join(rootDir, 'docs/guides/tutorial-python.md'), 'utf8')
    const command = /`python3 (?<args>-m pip install [^`]+)`/u.exec(page)?.groups?.['args'] ?? ''
    const options = { cwd: work, env: { ...process.env, PIP_ROOT_USER_ACTION: 'ignore' } }
    await promisify(execFile)(building ?? '', command.split(' '), options)
    const print = 'import facegate; print(facegate.__version__, facegate.__file__)'
    const { stdout } = await promisify(execFile)(building ?? '', ['-c', print], {
      env: { PYTHONPATH: path.join(work, 'libraries') },
    })
    assert.ok(stdout.startsWith(`0.1.0 ${work}/libraries/`), stdout)
    await rm(work, { recursive: true })
  },
)

const mypySkip = spawnSync('mypy', ['--version']).status === 0 ? false : 'mypy is not installed'

test('The Python client and its tests pass mypy in strict mode', { skip: mypySkip }, async () => {
  const args = ['--cache-dir', '/dev/null']
  const { stdout } = await promisify(execFile)('mypy', args, { cwd: packageFolder })
  assert.match(stdout, /^Success: no issues found/u)
})

async function createKeys(count: number): Promise<string[]> {
  const keys: string[] = []
  while (keys.length < count)
    keys.push((await gallery.createProjectClient({ galleryMode: 'isolated' })).key)
  return keys
}

/** Runs Python in the folder of the package, with warnings as errors. */
function runPython(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...environment }
  const python = ['-W', 'error', ...args]
  return promisify(execFile)('python3', python, { cwd: packageFolder, env, timeout: 600_000 })
}
