import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp from 'sharp'
import { runCli } from '../support/cli/run-cli.ts'
import { closeSharedServices } from '../support/shared-service.ts'
import {
  samplePhotograph,
  sharedFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'

let facegate: TestFacegate
let folder: string
const file = (name: string): string => path.join(folder, name)

before(async () => {
  facegate = await sharedFacegate()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-pictures-'))
  const [first, third, sixth] = await Promise.all(([1, 3, 6] as const).map(samplePhotograph))
  const mia = sharp(third!.bytes).extract({ left: 950, top: 80, width: 470, height: 560 })
  const portrait = await mia.jpeg().toBuffer()
  await writeFile(file('mia.jpg'), portrait)
  // The same person, stored on its side with an EXIF orientation.
  const door = sharp(first!.bytes).extract({ left: 1400, top: 150, width: 330, height: 360 })
  await writeFile(file('upright.jpg'), await door.jpeg().toBuffer())
  const rotated = sharp(await door.jpeg().toBuffer()).rotate(-90)
  await rotated.withMetadata({ orientation: 6 }).jpeg().toFile(file('door.jpg'))
  await writeFile(file('group.jpg'), sixth!.bytes)
  await writeFile(file('text.jpg'), 'not a picture')
  const enrolled = await facegate.run(
    'svc.enroll',
    { bytes: portrait, contentType: 'image/jpeg' },
    { externalId: 'cli-mia', displayName: 'Mia <Ü>', groups: ['cli'], duplicateCheck: 'off' },
  )
  assert.equal(enrolled.body.ok, true, JSON.stringify(enrolled.body))
})
after(closeSharedServices)
after(() => rm(folder, { recursive: true, force: true }))

/** Runs a command against the service. */
const run = (...args: readonly string[]) =>
  runCli(args, { FACEGATE_URL: facegate.url, FACEGATE_KEY: facegate.key })

test('facegate detect prints and draws every face of a picture', async () => {
  const { code, out, err } = await run('detect', file('group.jpg'), '--draw', file('faces.png'))
  assert.deepEqual([code, err], [0, ''])
  assert.equal(out.trim().split('\n').length, 5, out)
  const drawn = await sharp(file('faces.png')).metadata()
  const { width, height } = await sharp(file('group.jpg')).metadata()
  assert.deepEqual([drawn.format, drawn.width, drawn.height], ['png', width, height])
  const json = JSON.parse(
    (await run('detect', file('group.jpg'), '--max-faces', '2', '--json')).out,
  )
  assert.deepEqual([json.faceCount, json.faces.length], [4, 2])
  // The edge of the box is drawn in green.
  const { left, top } = json.faces[0].boundingBox
  const pixel = await sharp(file('faces.png'))
    .extract({ left: left + 40, top, width: 1, height: 1 })
    .removeAlpha()
    .raw()
    .toBuffer()
  assert.deepEqual([...pixel], [0x33, 0xe0, 0x6f])
})

test('facegate identify names the subject, also in a rotated picture', async () => {
  const drawn = ['--draw', file('door-faces.jpg')]
  const { code, out } = await run('identify', file('door.jpg'), '--group', 'cli', ...drawn)
  assert.equal(code, 0)
  assert.match(out, /Mia <Ü>/u)
  const { width, height } = await sharp(file('upright.jpg')).metadata()
  const metadata = await sharp(file('door-faces.jpg')).metadata()
  assert.deepEqual([metadata.width, metadata.height], [width, height], 'the picture is upright')
  const strict = await run('identify', file('door.jpg'), '--group', 'cli', '--threshold', '1')
  assert.match(strict.out, /no match/u)
})

test('facegate verify compares with a picture or a subject', async () => {
  const withPicture = await run('verify', file('door.jpg'), file('mia.jpg'))
  assert.match(withPicture.out, /^match: similarity 0\.\d{4}, threshold 0\.80$/mu)
  const withSubject = await run('verify', file('door.jpg'), '--external-id', 'cli-mia', '--json')
  assert.equal(JSON.parse(withSubject.out).matched, true)
  const other = await run('verify', file('group.jpg'), file('mia.jpg'), '--draw', file('v.jpg'))
  assert.match(other.out, /^no match: /u)
})

test('invalid calls end with one line that contains the remedy', async () => {
  const failures: readonly (readonly [args: readonly string[], code: number, reason: RegExp])[] = [
    [['verify', file('mia.jpg')], 2, /exactly one of a second picture/u],
    [['detect', file('text.jpg')], 1, /text\.jpg is not a picture; pass a JPEG or a PNG/u],
    [['detect', file('absent.jpg')], 1, /absent\.jpg/u],
    [
      ['detect', file('mia.jpg'), '--draw', file('a.bmp')],
      2,
      /must end in \.jpg, \.jpeg or \.png/u,
    ],
    [['detect', file('mia.jpg'), '--draw', file('mia.jpg')], 2, /would replace the picture/u],
    [['detect', file('mia.jpg'), '--url', 'http://127.0.0.1:1'], 1, /cannot be reached/u],
    [['detect', file('mia.jpg'), '--key', 'fsk_live_wrong'], 1, /401/u],
    [['identify', file('mia.jpg'), '--group', 'absent'], 1, /GROUP_NOT_FOUND/u],
  ]
  for (const [args, code, reason] of failures) {
    const result = await run(...args)
    assert.deepEqual([result.code, result.out], [code, ''], args.join(' '))
    assert.match(result.err, reason)
    assert.equal(result.err.trim().split('\n').length, 1, result.err)
  }
  const withoutKey = await runCli(['detect', file('mia.jpg')], { FACEGATE_KEY: '' })
  assert.equal(withoutKey.code, 2)
  assert.match(withoutKey.err, /pass --key <key>, or set FACEGATE_KEY/u)
})

test('a call is sent to the saved address with the saved key', async () => {
  const settings = {
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    FACEGATE_URL: '',
    FACEGATE_KEY: '',
  }
  const save = ['context', 'set', '--url', facegate.url, '--key', facegate.key]
  assert.equal((await runCli(save, settings)).code, 0)
  const { code, out, err } = await runCli(['detect', file('mia.jpg'), '--json'], settings)
  assert.equal(code, 0, err)
  assert.equal(JSON.parse(out).faces.length, 1)
})

test('A redirect is not followed with the key, and a response cannot control the terminal', async () => {
  const targets: string[] = []
  await using other = await startServer((request, response) => {
    targets.push(request.url ?? '')
    response.end()
  })
  let reply: (response: ServerResponse) => void = (response) =>
    response.writeHead(307, { location: `${other.url}/v1/face/execute` }).end()
  await using service = await startServer((_request, response) => reply(response))
  const detect = () => run('detect', file('mia.jpg'), '--url', service.url)
  const redirected = await detect()
  assert.deepEqual([redirected.code, targets], [1, []])
  assert.match(redirected.err, /returned HTTP 307/u)
  const importFolder = await run('import', folder, '--url', service.url)
  assert.deepEqual([importFolder.code, targets], [1, []])
  assert.match(importFolder.err, /is a redirect, which is not followed with the key/u)
  const errors = [{ code: '\u{1b}[2JCODE', message: 'first\r\nsecond \u{9b}31m' }]
  reply = (response) => response.end(JSON.stringify({ ok: false, data: null, errors }))
  assert.equal((await detect()).err.trim(), 'facegate: ?[2JCODE: first?\nsecond ?31m')
  reply = (response) => response.end(JSON.stringify({ ok: true, data: null, errors: [] }))
  assert.match((await detect()).err, /returned no value of svc\.detect/u)
})

async function startServer(respond: RequestListener) {
  const server = createServer(respond).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
