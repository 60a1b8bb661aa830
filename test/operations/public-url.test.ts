import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCli } from '../support/cli/run-cli.ts'
import { startConsole } from '../support/console/test-console.ts'
import { databaseSettings } from '../support/database/engine.ts'
import { spawnFacegate } from '../support/facegate/spawn-facegate.ts'

const PUBLIC_URL = 'https://faces.example.org'

test('The first start prints its calls and its link with PUBLIC_URL, and later starts name it', async () => {
  await using first = await spawnFacegate({ PUBLIC_URL, VISION_WORKERS: '1' })
  const output = first.stdout()
  assert.ok(output.includes(`Facegate is running at ${first.url}, for clients at ${PUBLIC_URL}\n`))
  for (const part of ['/docs/samples/group.jpg', '/v1/face/execute', '/setup#', '/docs'])
    assert.ok(output.includes(PUBLIC_URL + part), part)
  assert.ok(!output.includes(`${first.url}/`), 'no link contains the local address')
  // The address changes no check: a call to the local address is served.
  const me = await fetch(`${first.url}/v1/me`, { headers: { 'x-api-key': first.key } })
  assert.equal(me.status, 200)
})

test('Links of the command line and of the console contain PUBLIC_URL', async () => {
  await using testConsole = await startConsole({ environment: { PUBLIC_URL } })
  const { gallery, owner } = testConsole
  const invited = await owner.send('POST', '/users', { name: 'Ben', role: 'viewer' })
  assert.match(invited.body.inviteLink, /^https:\/\/faces\.example\.org\/setup/u)
  const { userId } = invited.body.user
  const again = await owner.send('POST', `/users/${userId}/invite`)
  assert.match(again.body.inviteLink, /^https:\/\/faces\.example\.org\/setup/u)
  const { dataDir } = gallery
  const environment = { DATA_DIR: dataDir, ...(await databaseSettings(dataDir)), PUBLIC_URL }
  const { out } = await runCli(['console', 'link'], environment)
  assert.match(out, /^https:\/\/faces\.example\.org\/setup#[\w-]{43}\n$/u)
})
