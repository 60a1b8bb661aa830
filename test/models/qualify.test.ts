import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import {
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { downloadLimits } from '../../src/models/install/fetch-file.ts'
import { runCli } from '../support/cli/run-cli.ts'
import { createDataFolder } from '../support/database/data-folder.ts'
import { openTestStore } from '../support/database/engine.ts'
import { startGallery } from '../support/gallery/test-gallery.ts'
import { smallNetwork } from '../support/models/small-network.ts'
import { evalDataFolder, testModelsFolder } from '../support/paths.ts'

const network = path.join(evalDataFolder, 'models', 'mobilefacenet.onnx')
const images = path.join(evalDataFolder, 'verification', 'images')
const isMissing = !existsSync(network) || !existsSync(images)
/** Their pictures have the 10,000 pairs that a table needs. */
const peopleCount = 100
/** Each of them is part of one of the mixtures of three people on average. */
const mixtureCount = 33
const cohortWarning = /WARNING: the people of these pictures are in the cohort, .* 150 people/u

let dataDir: string
let folder: string
before(async () => {
  dataDir = await createDataFolder()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-qualify-'))
  const pictures = path.join(folder, 'people')
  await mkdir(path.join(pictures, 'ada'), { recursive: true })
  await writeFile(path.join(pictures, 'ada', '1.jpg'), 'not a picture')
  // The networks are converted already; packs are installed in the data folder.
  const models = path.join(dataDir, 'models')
  await mkdir(models)
  for (const name of await readdir(testModelsFolder))
    if (name.endsWith('.onnx') || name === 'optimized')
      await symlink(path.join(testModelsFolder, name), path.join(models, name))
})
after(async () => {
  await rm(dataDir, { recursive: true })
  await rm(folder, { recursive: true })
})

function qualify(onnx: string, pictures: string, ...options: readonly string[]) {
  const line = ['models', 'qualify', onnx, '--pictures', pictures, '--licence', 'of a test']
  return runCli([...line, ...options], { DATA_DIR: dataDir, VISION_WORKERS: '1' })
}

const installedPacks = async () => readdir(path.join(dataDir, 'models', 'packs')).catch(() => [])
const packs = async () => (await installedPacks()).filter((name) => !name.startsWith('.'))

test('a network or pictures that cannot be used are refused, and nothing stays installed', async () => {
  const small = path.join(folder, 'small.onnx')
  await writeFile(small, smallNetwork(16))
  const large = path.join(folder, 'large.onnx')
  await writeFile(large, '')
  await truncate(large, downloadLimits.bytesMax + 1)
  const notOneFile = / is not a file of at most 1073741824 bytes/u
  const people = path.join(folder, 'people')
  const refused: readonly (readonly [string[], RegExp])[] = [
    [[path.join(folder, 'none.onnx'), people, '--name', 'x'], /there is no file .*none\.onnx/u],
    [[folder, people, '--name', 'x'], notOneFile],
    [[large, people, '--name', 'x'], notOneFile],
    [[small, path.join(folder, 'absent'), '--name', 'x'], /absent/u],
    [[small, people, '--name', 'Not Valid'], /--name must be 1 to 64 of a-z 0-9/u],
    [[small, people, '--name', 'x', '--dimensions', '8'], /--dimensions must be a whole number/u],
    [[small, people, '--name', 'x', '--dimensions', '16'], /x does not work: /u],
  ]
  for (const [[onnx = '', pictures = '', ...options], message] of refused) {
    const { code, err } = await qualify(onnx, pictures, ...options)
    assert.notEqual(code, 0, err)
    assert.match(err, message)
    assert.deepEqual(await packs(), [])
  }
})

test(
  'a recognizer is installed, measured, calibrated and described, and can be used then',
  { skip: isMissing && 'NOT MEASURED: eval-data is missing' },
  async () => {
    // The first start creates the account, to which the entry of the audit log belongs.
    await using _gallery = await startGallery({ dataDir })
    const people = path.join(folder, 'faces')
    await mkdir(people)
    for (const name of (await readdir(images)).slice(0, peopleCount))
      await symlink(path.join(images, name), path.join(people, name))
    const tooFew = path.join(folder, 'few')
    await mkdir(tooFew)
    for (const name of (await readdir(images)).slice(0, 3))
      await symlink(path.join(images, name), path.join(tooFew, name))
    const options = ['--name', 'mine', '--dimensions', '128']
    const few = await qualify(network, tooFew, ...options)
    assert.match(few.err, /too few/u)
    assert.deepEqual(await packs(), [])
    const { code, out, err } = await qualify(network, people, ...options, '--json')
    assert.equal(code, 0, err)
    assert.doesNotMatch(err, cohortWarning)
    assert.match(err, /FMR 1e-4: .* %, on held-out people; .* % with them in the cohort/u)
    const report = JSON.parse(out)
    assert.equal(report.people, peopleCount)
    const pack = path.join(dataDir, 'models', 'packs', 'mine')
    const [model] = JSON.parse(await readFile(path.join(pack, 'pack.json'), 'utf8')).models
    assert.deepEqual(model.licence, { name: 'of a test', commercialUse: 'unclear' })
    assert.ok(model.decoding.calibration && model.decoding.cohort)
    const valueOf = (what: string) =>
      model.measured.find((each: { what: string }) => each.what.startsWith(what))?.value
    assert.ok(Number(valueOf('area under the curve')) > 0.99)
    assert.ok(Number.parseFloat(valueOf('TAR at FMR 1e-3, people outside')) > 90)
    const inCohort = valueOf('TAR at FMR 1e-4, the same people in the cohort')
    assert.ok(Number.parseFloat(inCohort) > 90, 'people of the pictures can be enrolled')
    const { length } = await readFile(path.join(pack, model.decoding.cohort.file))
    assert.equal(length, 2 * 128 * mixtureCount)
    const card = await readFile(path.join(pack, 'card.md'), 'utf8')
    assert.match(
      card,
      new RegExp(`measured \\| TAR at FMR 1e-3.*${valueOf('TAR at FMR 1e-3')}`, 'u'),
    )
    assert.match(card, new RegExp(`TAR at FMR 1e-4, the same people .*${inCohort}`, 'u'))
    assert.ok(existsSync(path.join(pack, 'curve.svg')))
    const store = await openTestStore(dataDir)
    const entries = await store.db
      .selectFrom('auditLog')
      .select(['auditAction', 'target'])
      .execute()
    await store.close()
    const installs = entries.filter(({ auditAction }) => auditAction === 'models.install')
    assert.equal(installs.at(-1)?.target, 'mine')
    const again = await qualify(network, people, ...options)
    assert.match(
      again.err,
      /the pack mine is installed already; .*, or remove it: facegate models remove mine/u,
    )
    const refused = await runCli(['models', 'use', 'builtin+mine'], { DATA_DIR: dataDir })
    assert.match(refused.err, /builtin\+mine\/mine has no similarity table yet/u)
    const calibrate = ['--models', 'builtin+mine', '--calibrate', pack]
    const calibrateBoth = () =>
      runCli(['evaluate', 'verification', people, ...calibrate], {
        DATA_DIR: dataDir,
        VISION_WORKERS: '1',
      })
    const both = await calibrateBoth()
    assert.equal(both.code, 0, both.err)
    assert.match(both.err, /FMR 1e-3: score .*, on held-out people/u)
    assert.doesNotMatch(both.err, /created the cohort/u)
    const [after] = JSON.parse(await readFile(path.join(pack, 'pack.json'), 'utf8')).models
    const { withBuiltin, ...alone } = after.decoding
    assert.deepEqual(alone, model.decoding, 'the recognizer alone stays as it is')
    assert.equal(withBuiltin.cohort.mixtures, mixtureCount)
    const { size } = await stat(path.join(pack, withBuiltin.cohort.file))
    assert.equal(size, 2 * 128 * mixtureCount, 'mixtures of an earlier calibration are not added')
    assert.match((await calibrateBoth()).err, /the people whose pictures created the cohort/u)
    for (const command of ['use', 'verify'])
      assert.equal((await runCli(['models', command, 'mine'], { DATA_DIR: dataDir })).code, 0)
    const used = await runCli(['models', 'use', 'builtin+mine'], { DATA_DIR: dataDir })
    assert.match(used.out, /recognizer: builtin\+mine\/mine\n/u)
    assert.match(used.out, /dlib-faceres-256@1\+mine@1 hold only for pictures like those/u)
  },
)

test(
  'the report warns if the people of the pictures match less often than others',
  { skip: isMissing && 'NOT MEASURED: eval-data is missing' },
  async () => {
    const people = path.join(folder, 'many-pictures')
    await mkdir(people)
    const counted = await Promise.all(
      (await readdir(images)).map(async (name) => {
        return { name, pictures: (await readdir(path.join(images, name))).length }
      }),
    )
    const first = counted.toSorted((a, b) => b.pictures - a.pictures).slice(0, 19)
    for (const { name } of first) await symlink(path.join(images, name), path.join(people, name))
    const { code, err } = await qualify(network, people, '--name', 'few', '--dimensions', '128')
    assert.equal(code, 0, err)
    assert.match(err, cohortWarning)
  },
)
