import type { Browser, Page } from 'playwright-core'
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { englishTexts as texts } from '../../../client/src/liveness/texts.ts'
import { cliOutput } from '../cli/run-cli.ts'
import {
  installExamples,
  startExampleServer,
  type ExampleServer,
} from '../facegate/install-examples.ts'
import { startFacegate, type TestFacegate } from '../facegate/test-facegate.ts'
import { openChromium, stepTimeoutMs } from '../console/browser/chromium.ts'
import { drawHead, drawMovingHead } from './drawn-head.ts'
import { ignoreHints, installFakeCamera } from './fake-camera.ts'

/** A drawn head fails one attempt of seven. */
const attemptsMax = 6

/** The steps of an attempt expire, which the component shows. */
const attemptMsMax = 120_000

/** The fake camera needs no time to read the instructions. */
export const shortTimes = { moveMs: 400, holdMs: 400 }

/** The pages of the examples in a browser whose camera shows a drawn head. */
export type LivenessPages = AsyncDisposable & {
  readonly facegate: TestFacegate
  readonly page: Page
  /** Starts the server of an example, with another key if given, and permits its page to send frames. */
  readonly startServer: (name: string, key?: string) => Promise<ExampleServer>
  /** Opens the page of `liveness-check`, or of another example. */
  readonly openPage: (server?: ExampleServer) => Promise<void>
  /** The same page with sessions without angles, without checks of single frames, and a short recording. */
  readonly openUnguidedPage: () => Promise<void>
  /** Permits the pages of one server, or of none, to send frames. */
  readonly setOrigin: (origin: string) => Promise<void>
  readonly url: string
  /** Runs a script with the element as `check`. */
  readonly changeElement: (script: string) => Promise<unknown>
  /** Waits for a text of the page, and starts other attempts if a drawn head fails. */
  readonly expectResult: (text?: string) => Promise<void>
  readonly start: () => Promise<void>
  readonly retry: () => Promise<void>
}

export async function startLivenessPages(): Promise<LivenessPages> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-examples-'))
  await installExamples(folder)
  const facegate = await startFacegate({ LIVENESS_FAILURES_PER_MINUTE_MAX: '1000' })
  const browser = await openChromium()
  const page = await browser.newPage({ reducedMotion: 'reduce' })
  page.setDefaultTimeout(stepTimeoutMs + attemptMsMax)
  await installFakeCamera(page, { moving: await drawMovingHead(), still: await drawHead() })
  await page.route(`**${anglelessPath}`, async (route) => {
    await route.fulfill({ json: await createAngleless(facegate) })
  })
  const servers: ExampleServer[] = []
  const setOrigin = async (origin: string) => {
    const options = ['project', 'set', 'default', '--liveness-origins', origin]
    await cliOutput(options, { DATA_DIR: facegate.dataDir })
  }
  const startServer = async (name: string, key = facegate.key): Promise<ExampleServer> => {
    const address = { url: facegate.url, key }
    const server = await startExampleServer(path.join(folder, name), address)
    servers.push(server)
    await setOrigin(server.url)
    return server
  }
  const { url } = await startServer('liveness-check')
  return {
    facegate,
    page,
    url,
    setOrigin,
    startServer,
    ...pageActions(page, url),
    [Symbol.asyncDispose]: () => closeAll({ browser, servers, facegate, folder }),
  }
}

/** A path of the page that creates sessions without angles. */
const anglelessPath = '/angleless-session'

async function createAngleless({ url, key }: TestFacegate): Promise<unknown> {
  const response = await fetch(`${url}/v1/liveness/sessions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ requireAngles: false }),
  })
  return response.json()
}

function pageActions(page: Page, url: string) {
  const openPage = async (server: Pick<ExampleServer, 'url'> = { url }): Promise<void> => {
    await page.goto(server.url)
    await page.getByText(texts.introduction).waitFor()
  }
  const changeElement = (script: string): Promise<unknown> =>
    page.evaluate(`{ const check = document.querySelector('facegate-liveness'); ${script} }`)
  const openUnguidedPage = async (): Promise<void> => {
    await openPage()
    await ignoreHints(page)
    await changeElement(`
      check.setAttribute('session-url', ${JSON.stringify(anglelessPath)})
      check.times = ${JSON.stringify(shortTimes)}`)
  }
  /** The steps are random, and a drawn head shows some of them less clearly than a real one. */
  const expectResult = async (text = 'Welcome.'): Promise<void> => {
    const problem = page.getByRole('button', { name: texts.retry })
    for (let attempt = 1; ; attempt++) {
      await page.getByText(text).or(problem).first().waitFor()
      if ((await problem.count()) === 0) return
      const [message = ''] = await page.locator('.message').allInnerTexts()
      assert.ok(attempt < attemptsMax, message)
      await problem.click()
    }
  }
  const start = () => page.getByRole('button', { name: texts.start }).click()
  const retry = () => page.getByRole('button', { name: texts.retry }).click()
  return { openPage, changeElement, openUnguidedPage, expectResult, start, retry }
}

type Opened = {
  readonly browser: Browser
  readonly servers: readonly ExampleServer[]
  readonly facegate: TestFacegate
  readonly folder: string
}

async function closeAll({ browser, servers, facegate, folder }: Opened): Promise<void> {
  await browser.close()
  for (const server of servers) server.process.kill()
  await facegate[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
}
