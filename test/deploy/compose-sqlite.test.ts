import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parse } from 'yaml'
import { z } from 'zod'
import { environmentVariablesOf, parseDockerfile } from '../../deploy/parse-dockerfile.ts'
import { readConfig } from '../../src/config.ts'
import { rootDir } from '../support/paths.ts'

const read = (file: string): string => readFileSync(path.join(rootDir, 'deploy', file), 'utf8')
const image = parseDockerfile(read('Dockerfile')).at(-1)
const imageEnvironment = environmentVariablesOf(image?.instructions ?? [])

const singleServer = z.looseObject({
  services: z.record(
    z.string(),
    z.looseObject({
      environment: z.record(z.string(), z.string()),
      ports: z.array(z.string()),
      volumes: z.array(z.string()),
      stop_grace_period: z.string(),
    }),
  ),
  volumes: z.record(z.string(), z.null()),
})

test('compose.sqlite.yaml starts one server with the writable folder of the image, for this machine', () => {
  const { services, volumes } = singleServer.parse(parse(read('compose.sqlite.yaml')))
  const [server, ...others] = Object.values(services)
  assert.ok(server)
  assert.equal(others.length, 0)
  assert.deepEqual(server.volumes, [`data:${imageEnvironment['DATA_DIR']}`])
  assert.deepEqual(Object.keys(volumes), ['data'])
  const port = imageEnvironment['PORT']
  assert.deepEqual(server.ports, [`127.0.0.1:${port}:${port}`])
  // The defaults of the variables are valid settings.
  const defaults = Object.entries(server.environment).map(([name, text]) => [
    name,
    /^\$\{\w+:-(.*)\}$/u.exec(text)?.[1] ?? text,
  ])
  assert.equal(readConfig({ ...imageEnvironment, ...Object.fromEntries(defaults) }).TRUST_PROXY, 0)
  const graceMs = Number(server.stop_grace_period.replace('s', '')) * 1000
  const { SHUTDOWN_DELAY_MS, DRAIN_TIMEOUT_MS } = readConfig({})
  assert.ok(graceMs > SHUTDOWN_DELAY_MS + DRAIN_TIMEOUT_MS)
})
