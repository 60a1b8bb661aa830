import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { englishTexts as texts } from '../../client/src/liveness/texts.ts'
import { openDrawing } from '../../eval/challenge/draw-person.ts'
import { drawView, viewKinds } from '../../eval/challenge/drawn-views.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import {
  openChromium,
  skipWithoutBrowser,
  stepTimeoutMs,
  accessibilityFindings,
} from '../support/console/browser/chromium.ts'
import { failCamera, holdText, installFakeCamera } from '../support/console/browser/fake-camera.ts'
import { samplePortrait } from '../support/facegate/sample-portrait.ts'
import { sequentialTests } from '../support/console/browser/sequential-tests.ts'
import {
  installExamples,
  startExampleServer,
  type ExampleServer,
} from '../support/facegate/install-examples.ts'
import {
  samplePhotograph,
  startFacegate,
  type TestFacegate,
} from '../support/facegate/test-facegate.ts'
import { testModelsFolder } from '../support/paths.ts'

/** A drawn head fails one session of seven. */
const attemptsMax = 6

describe('The pages of the examples with a camera', { skip: skipWithoutBrowser }, () => {
  let facegate: TestFacegate
  let folder: string
  let pageServer: ExampleServer
  let browser: Browser
  let page: Page

  const step = sequentialTests()

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'facegate-examples-'))
    await installExamples(folder)
    facegate = await startFacegate({ VISION_WORKERS: '1' })
    pageServer = await startExampleServer(path.join(folder, 'liveness-check'), facegate)
    browser = await openChromium()
    page = await browser.newPage({ reducedMotion: 'reduce' })
    page.setDefaultTimeout(stepTimeoutMs)
    await installFakeCamera(page, { images: await drawHead() })
    await shortenRecording(page)
  })

  after(async () => {
    await browser?.close()
    pageServer?.process.kill()
    await facegate?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  const openPage = async ({ url }: ExampleServer = pageServer): Promise<void> => {
    await page.goto(url)
    await page.getByText(texts.introduction).waitFor()
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

  step('A head that follows the instructions passes', async () => {
    await openPage()
    assert.deepEqual(await accessibilityFindings(page, 'light'), [])
    await start()
    await page.getByText(texts.lookStraight).waitFor()
    await expectResult()
    assert.equal(await page.getByRole('button', { name: texts.start }).count(), 0)
  })

  step('A still picture does not pass; the next attempt can pass', async () => {
    await openPage()
    await holdText(page, texts.lookStraight)
    await start()
    await page.getByText(texts.problems.notLive).waitFor()
    await page.getByText(/Turn your head further: it moved \d+ degrees/u).waitFor()
    assert.deepEqual(await accessibilityFindings(page, 'light'), [])
    await holdText(page, undefined)
    await retry()
    await expectResult()
  })

  step('A camera that is refused, missing or busy has its own message', async () => {
    await openPage()
    await failCamera(page, 'NotAllowedError')
    await start()
    await page.getByText(texts.problems.cameraRefused).waitFor()
    await failCamera(page, 'NotFoundError')
    await retry()
    await page.getByText(texts.problems.cameraMissing).waitFor()
    await failCamera(page, 'NotReadableError')
    await retry()
    await page.getByText(texts.problems.cameraBusy).waitFor()
    await failCamera(page, '')
  })

  step(
    'Steps that expire during the recording are reported, and a new session passes',
    async () => {
      await openPage()
      await page.route('**/session', async (route) => {
        const response = await route.fetch()
        const session: object = await response.json()
        // 10 s are reserved for sending the frames.
        const expiresAtUtc = new Date(Date.now() + 10_200).toISOString()
        await route.fulfill({ response, json: { ...session, expiresAtUtc } })
      })
      await start()
      await page.getByText(texts.problems.timeOver).waitFor()
      await page.unroute('**/session')
      await retry()
      await expectResult()
    },
  )

  step('A server that fails is reported', async () => {
    await openPage()
    await page.route('**/check', (route) => route.fulfill({ status: 502 }))
    await start()
    await page.getByText(texts.problems.serverFailed).waitFor()
    await page.unroute('**/check')
  })

  step('The component can be used with the keyboard and closes', async () => {
    await openPage()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('The check was closed.').waitFor()
    assert.equal(await page.getByText(texts.introduction).count(), 0)
  })

  step('The kiosk example greets an enrolled person and no other', async () => {
    const image = { bytes: await frontalPortrait(), contentType: 'image/png' }
    const person = { externalId: 'visitor-7', displayName: 'Kim', groups: ['visitors'] }
    const enrolled = await facegate.run('svc.enroll', image, person)
    const kiosk = await startExampleServer(path.join(folder, 'kiosk'), facegate)
    try {
      await openPage(kiosk)
      await start()
      await expectResult('Welcome, Kim.')
      const { subjectId } = enrolled.body.data.results[0].value
      const change = { subjectId, removeGroups: ['visitors'], addGroups: ['former-visitors'] }
      const changed = await facegate.post({ action: 'svc.updateSubject', params: change })
      assert.equal(changed.body.ok, true, JSON.stringify(changed.body))
      await enrollOther(facegate)
      await start()
      await expectResult('You are not on the list. Please go to the desk.')
    } finally {
      kiosk.process.kill()
    }
  })
})

/** Enrolls another person as a visitor: a search of a group without subjects is an error. */
async function enrollOther(facegate: TestFacegate): Promise<void> {
  const image = { bytes: await samplePortrait(), contentType: 'image/png' }
  const { body } = await facegate.run('svc.enroll', image, { groups: ['visitors'] })
  assert.equal(body.ok, true, JSON.stringify(body))
}

/** The frontal face of a sample photograph: PNG, 480×480. */
async function frontalPortrait(): Promise<Buffer> {
  const { bytes } = await samplePhotograph(5)
  return sharp(bytes).extract({ left: 220, top: 790, width: 480, height: 480 }).png().toBuffer()
}

/**
 * Returns the views of a solid head by the instruction that they follow. A direction that is requested
 * a second time shows another angle, as a person does.
 */
async function drawHead(): Promise<Record<string, string[]>> {
  await using drawing = await openDrawing(testModelsFolder)
  const picture = await drawing.readFrontal(await frontalPortrait(), 'sample')
  assert.ok(picture, 'the face of the sample photograph is frontal')
  const head = viewKinds.find(({ name }) => name === 'head')
  assert.ok(head)
  const random = seededRandom(7)
  const source = { ...picture, behind: picture }
  const draw = async (degrees: number, step?: keyof typeof texts.steps): Promise<string> => {
    const jpeg = await drawView({ ...head, degrees }, source, { step, random })
    return `data:image/jpeg;base64,${jpeg.toString('base64')}`
  }
  const images: Record<string, string[]> = { [texts.lookStraight]: [await draw(0)] }
  for (const step of ['turnLeft', 'turnRight', 'lookUp', 'lookDown'] as const)
    images[texts.steps[step]] = [await draw(32, step), await draw(40, step)]
  return images
}

/** The fake camera needs no time to read the instructions. */
async function shortenRecording(page: Page): Promise<void> {
  await page.route('**/page.js', async (route) => {
    const response = await route.fetch()
    const source = await response.text()
    const body = source.replace(
      'runLivenessCheck({',
      'runLivenessCheck({ times: { moveMs: 400, holdMs: 400 },',
    )
    assert.notEqual(body, source)
    await route.fulfill({ response, body })
  })
}
