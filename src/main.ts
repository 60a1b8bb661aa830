import packageJson from '../package.json' with { type: 'json' }
import { readConfig } from './config.ts'
import { systemClock } from './lib/clock.ts'
import { describeError } from './lib/observability/describe-error.ts'
import { defaultKeyLifetimeDays } from './lib/limits/key-limits.ts'
import { createLog } from './lib/log.ts'
import { createRecentProblems } from './lib/observability/recent-problems.ts'
import type { PrepareProgress } from './models/builtin/prepare-builtin-pack.ts'
import { creditMessage } from './start/credit-message.ts'
import { createFacegate } from './start/create-facegate.ts'

try {
  await start()
} catch (error) {
  console.error(`facegate cannot start: ${describeError(error)}`)
  process.exit(1)
}

async function start(): Promise<void> {
  const config = readConfig(process.env)
  const recentProblems = createRecentProblems()
  const log = createLog(config.LOG_LEVEL, undefined, recentProblems.addLine)
  const { version } = packageJson
  const facegate = await createFacegate(config, {
    version,
    log,
    recentProblems,
    clock: systemClock,
    onProgress: reportProgress,
  })
  const { HOST, PORT } = config
  const address = await facegate.server.listen(HOST, PORT).catch((cause: unknown) => {
    const place = `HOST=${HOST} and PORT=${PORT} cannot be used`
    throw new Error(`${place}: ${describeError(cause)}; set another address`, { cause })
  })
  const publicUrl = config.PUBLIC_URL || address
  const firstKey = await facegate.createFirstKey()
  console.log(
    firstKey
      ? welcomeMessage(firstKey, {
          address,
          publicUrl,
          link: publicUrl + (await facegate.createOwnerLink()),
          credit: creditMessage(config, process.env['PATH']),
        })
      : runningMessage(address, publicUrl),
  )

  const stop = (): void => {
    facegate.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'shutdown failed')
        process.exit(1)
      },
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, stop)
}

/** Only the first start converts models. Later starts verify them without output. */
function reportProgress({ done, total, id, outcome }: PrepareProgress): void {
  if (outcome === 'converted') console.log(`converted model ${done} of ${total}: ${id}`)
}

type WelcomeParts = {
  readonly address: string
  /** The address for clients. */
  readonly publicUrl: string
  readonly link: string
  readonly credit: string
}

function runningMessage(address: string, publicUrl: string): string {
  const forClients = publicUrl === address ? '' : `, for clients at ${publicUrl}`
  return `Facegate is running at ${address}${forClients}`
}

function welcomeMessage(key: string, { address, publicUrl, link, credit }: WelcomeParts): string {
  return `
${runningMessage(address, publicUrl)}
Your API key. It is shown only once and expires after ${defaultKeyLifetimeDays} days:

  ${key}

Try it:

  printf '{"action":"svc.detect","params":{"images":[{"kind":"image","contentType":"image/jpeg","bytes":"%s"}]}}' \\
    "$(curl -sS ${publicUrl}/docs/samples/group.jpg | base64 | tr -d '\\n')" |
    curl -sS ${publicUrl}/v1/face/execute -H 'X-Api-Key: ${key}' -H 'Content-Type: application/json' --data-binary @-

${credit}

Set the password of the console. The link works once and expires in one day:

  ${link}

Documentation: ${publicUrl}/docs`
}
