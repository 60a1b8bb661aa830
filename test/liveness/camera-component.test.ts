import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import type { Request } from 'playwright-core'
import { englishTexts as texts } from '../../client/src/liveness/texts.ts'
import { accessibilityFindings, skipWithoutBrowser } from '../support/console/browser/chromium.ts'
import { frontalPortrait } from '../support/liveness/drawn-head.ts'
import { holdText } from '../support/liveness/fake-camera.ts'
import {
  startLivenessPages,
  type LivenessPages,
  shortTimes,
} from '../support/liveness/liveness-pages.ts'
import { samplePortrait } from '../support/facegate/sample-portrait.ts'
import type { TestFacegate } from '../support/facegate/test-facegate.ts'
import { sequentialTests } from '../support/console/browser/sequential-tests.ts'

describe('The component on the pages of the examples', { skip: skipWithoutBrowser }, () => {
  let pages: LivenessPages
  before(async () => {
    pages = await startLivenessPages()
  })
  after(() => pages?.[Symbol.asyncDispose]())

  const step = sequentialTests()

  step('A head that follows the hints passes the default session within 20 s', async (t) => {
    const { page } = pages
    await pages.openPage()
    await page.evaluate(hintsScript)
    assert.deepEqual(await accessibilityFindings(page, 'light'), [])
    let checks = 0
    const attempts: number[] = []
    const count = (request: Request): void => {
      const text = request.postData() ?? ''
      if (text.includes('"svc.analyze"')) checks++
      if (text.includes('"svc.liveness"')) attempts.push(checks)
    }
    page.on('request', count)
    await pages.start()
    await page.getByText(texts.lookStraight).waitFor()
    await pages.expectResult()
    page.off('request', count)
    const hints = await page.evaluate<string[]>('[...hints]')
    for (const hint of ['further', 'hold', 'good'] as const)
      assert.ok(hints.includes(texts.guidance[hint]), hints.join())
    await page.getByText(texts.passed).waitFor()
    assert.equal(await page.getByRole('button', { name: texts.start }).count(), 0)
    assert.deepEqual(await accessibilityFindings(page, 'light'), [])
    // The time of the frames, which does not depend on the speed of this machine.
    const checkCount = (attempts.at(-1) ?? 0) - (attempts.at(-2) ?? 0)
    const framesMs = checkCount * checkMs + positionCount * positionMs
    t.diagnostic(`${checkCount} checks, ${(framesMs / 1000).toFixed(1)} s of frames`)
    assert.ok(checkCount > positionCount && framesMs <= 20_000, `${checkCount} checks`)
  })

  step('A head passes a session without angles, without checks of single frames', async () => {
    const checks: string[] = []
    pages.page.on('request', (request) => {
      if (request.postData()?.includes('"svc.analyze"') === true) checks.push(request.url())
    })
    await pages.openUnguidedPage()
    await pages.start()
    await pages.expectResult()
    assert.deepEqual(checks, [])
    await pages.openUnguidedPage()
    await pages.changeElement(`check.setAttribute('guided', ''); check.reset()`)
    await pages.start()
    await pages.expectResult()
    assert.ok(checks.length > 0, 'with `guided`')
  })

  step('A head that does not move reads what to change, and then passes', async () => {
    await pages.openPage()
    await holdText(pages.page, texts.lookStraight)
    await pages.start()
    await pages.page.getByText(texts.guidance.further).waitFor()
    assert.deepEqual(await accessibilityFindings(pages.page, 'light'), [])
    const arrow = `getComputedStyle(document.querySelector('facegate-liveness').shadowRoot.querySelector('.arrow'))`
    assert.equal(await pages.page.evaluate(`${arrow}.animationName`), 'none', 'reduced motion')
    await holdText(pages.page, undefined)
    await pages.expectResult()
  })

  step(
    'A person who fails reads the causes and the attempts left; the next session can pass',
    async () => {
      await pages.openUnguidedPage()
      await holdText(pages.page, texts.lookStraight)
      await pages.start()
      await pages.page.getByText(texts.problems.notLive).waitFor()
      await pages.page
        .getByText(/Turn your head further: it moved \d+ degrees.*2 attempts are left/u)
        .waitFor()
      assert.deepEqual(await accessibilityFindings(pages.page, 'light'), [])
      await pages.retry()
      await pages.page.getByText(texts.lastAttempt).waitFor()
      await pages.changeElement(
        `check.addEventListener('failed', ({ detail }) => (window.failure = detail))`,
      )
      await pages.retry()
      await pages.page.waitForFunction('window.failure')
      const cause = await pages.page.evaluate<string>('window.failure.causes[0].cause')
      assert.equal(cause, 'MOVED_TOO_LITTLE')
      await holdText(pages.page, undefined)
      await pages.retry()
      await pages.expectResult()
    },
  )

  step(
    'Attributes set a session, its token and the texts; removing the element stops the camera',
    async () => {
      await pages.openPage()
      await pages.page.evaluate(`(async () => {
      const { sessionId, sessionToken } = await (await fetch('/angleless-session', { method: 'POST' })).json()
      const check = document.createElement('facegate-liveness')
      check.setAttribute('service', ${JSON.stringify(pages.facegate.url)})
      check.setAttribute('session', sessionId)
      check.setAttribute('token', sessionToken)
      check.setAttribute('texts', '{"start":"Los","causes":{"MOVED_TOO_LITTLE":"Weiter drehen."}}')
      check.times = ${JSON.stringify(shortTimes)}
      document.querySelector('facegate-liveness').replaceWith(check)
      window.events = []
      for (const name of ['passed', 'failed', 'error'])
        check.addEventListener(name, ({ type }) => events.push(type))
    })()`)
      await holdText(pages.page, texts.lookStraight)
      await pages.page.getByRole('button', { name: 'Los' }).click()
      for (const left of [/2 attempts are left/u, /One attempt is left/u]) {
        await pages.page
          .getByText(/Weiter drehen\./u)
          .and(pages.page.getByText(left))
          .waitFor()
        await pages.retry()
      }
      await pages.page.waitForFunction('events.length > 0')
      assert.deepEqual(await pages.page.evaluate('events'), ['failed'])
      await pages.page.getByText(/Weiter drehen\./u).waitFor()
      assert.equal(await pages.page.getByRole('button').count(), 0, 'no attempt is left')
      await holdText(pages.page, undefined)

      await pages.openPage()
      await pages.start()
      await pages.page.getByText(texts.lookStraight).waitFor()
      await pages.changeElement(`
      window.stream = check.shadowRoot.querySelector('video').srcObject
      check.remove()`)
      await pages.page.waitForFunction(
        `stream.getTracks().every(({ readyState }) => readyState === 'ended')`,
      )
    },
  )

  step('The kiosk example greets an enrolled person and no other', async () => {
    const image = { bytes: await frontalPortrait(), contentType: 'image/png' }
    const person = { externalId: 'visitor-7', displayName: 'Kim', groups: ['visitors'] }
    const enrolled = await pages.facegate.run('svc.enroll', image, person)
    const kiosk = await pages.startServer('kiosk')
    try {
      await pages.openPage(kiosk)
      await pages.start()
      await pages.expectResult('Welcome, Kim.')
      const { subjectId } = enrolled.body.data.results[0].value
      const change = { subjectId, removeGroups: ['visitors'], addGroups: ['former-visitors'] }
      const changed = await pages.facegate.post({ action: 'svc.updateSubject', params: change })
      assert.equal(changed.body.ok, true, JSON.stringify(changed.body))
      await enrollOther(pages.facegate)
      await pages.start()
      await pages.expectResult('You are not on the list. Please go to the desk.')
    } finally {
      kiosk.process.kill()
    }
  })
})

/** The first frame and three steps. */
const positionCount = 4
/** From an instruction to the first check: 0.3 times the time to read and to move. */
const positionMs = 540
/** Three pictures, of which the sharpest is checked, and the response of the service. */
const checkMs = 3 * 100 + 200

/** Keeps every hint that the component shows. */
const hintsScript = `{
  const hint = document.querySelector('facegate-liveness').shadowRoot.querySelector('.hint')
  window.hints = new Set()
  const keep = () => hints.add(hint.textContent)
  new MutationObserver(keep).observe(hint, { childList: true })
}`

/** Enrolls another person as a visitor: a search of a group without subjects is an error. */
async function enrollOther(facegate: TestFacegate): Promise<void> {
  const image = { bytes: await samplePortrait(), contentType: 'image/png' }
  const { body } = await facegate.run('svc.enroll', image, { groups: ['visitors'] })
  assert.equal(body.ok, true, JSON.stringify(body))
}
