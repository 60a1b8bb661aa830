import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { englishTexts as texts } from '../../client/src/liveness/texts.ts'
import { skipWithoutBrowser } from '../support/console/browser/chromium.ts'
import {
  failCamera,
  holdText,
  requestedCameras,
  setCameras,
} from '../support/liveness/fake-camera.ts'
import { noFace } from '../support/liveness/drawn-head.ts'
import { startLivenessPages, type LivenessPages } from '../support/liveness/liveness-pages.ts'
import { cliOutput } from '../support/cli/run-cli.ts'
import { sequentialTests } from '../support/console/browser/sequential-tests.ts'

describe(
  'The component with a camera, a service or a page that fails',
  { skip: skipWithoutBrowser },
  () => {
    let pages: LivenessPages
    before(async () => {
      pages = await startLivenessPages()
    })
    after(() => pages?.[Symbol.asyncDispose]())

    const step = sequentialTests()

    step('A camera that is refused, missing, busy or unavailable has its own text', async () => {
      await pages.openPage()
      await failCamera(pages.page, 'NotAllowedError')
      await pages.start()
      await pages.page.getByText(texts.problems.cameraRefused).waitFor()
      await failCamera(pages.page, 'NotFoundError')
      await pages.retry()
      await pages.page.getByText(texts.problems.cameraMissing).waitFor()
      await failCamera(pages.page, 'NotReadableError')
      await pages.retry()
      await pages.page.getByText(texts.problems.cameraBusy).waitFor()
      // As in a WebView without access to the camera, and on a page over plain http.
      await pages.page.evaluate('navigator.mediaDevices.getUserMedia = undefined')
      await pages.retry()
      await pages.page.getByText(texts.problems.cameraUnsupported).waitFor()
      await pages.page.evaluate(
        `Object.defineProperty(window, 'isSecureContext', { value: false })`,
      )
      await pages.retry()
      await pages.page.getByText(texts.problems.insecurePage).waitFor()
      await failCamera(pages.page, '')
    })

    step(
      'Another camera can be selected, and is used on the next visit while it is connected',
      async () => {
        await pages.openPage()
        await setCameras(pages.page, ['first', 'second'], { isPortrait: true })
        await holdText(pages.page, texts.lookStraight)
        await pages.start()
        await pages.page.locator('.stage[data-orientation=portrait]').waitFor()
        await pages.page.getByLabel(texts.camera).selectOption('second')
        await pages.page.waitForFunction('requestedCameras.length === 2')
        await holdText(pages.page, undefined)
        await pages.expectResult()
        await pages.openPage()
        await setCameras(pages.page, ['first', 'second'])
        await pages.start()
        await pages.expectResult()
        assert.match((await requestedCameras(pages.page)).at(-1) ?? '', /"exact":"second"/u)
        await pages.openPage()
        await pages.start()
        await pages.expectResult()
        const requests = await requestedCameras(pages.page)
        assert.match(requests.at(-1) ?? '', /"facingMode":"user"/u)
        assert.equal(await pages.page.getByLabel(texts.camera).isVisible(), false, 'one camera')
      },
    )

    step(
      'Steps that expire during the recording are reported, and a new session passes',
      async () => {
        await pages.openPage()
        await pages.page.route('**/session', async (route) => {
          const response = await route.fetch()
          const session: object = await response.json()
          // 10 s are reserved for sending the frames.
          const expiresAtUtc = new Date(Date.now() + 12_000).toISOString()
          await route.fulfill({ response, json: { ...session, expiresAtUtc } })
        })
        await pages.start()
        await pages.page.getByText(texts.problems.timeOver).waitFor()
        await pages.page.unroute('**/session')
        await pages.retry()
        await pages.expectResult()
      },
    )

    step('A service and a page server that fail are reported', async () => {
      await pages.openPage()
      await pages.page.route('**/frames', (route) => route.fulfill({ status: 502 }))
      await pages.start()
      await pages.page.getByText(texts.problems.serverFailed).waitFor()
      await pages.page.unroute('**/frames')
      await pages.page.route('**/session', (route) => route.fulfill({ status: 502 }))
      await pages.openPage()
      await pages.start()
      await pages.page.getByText(texts.problems.serverFailed).waitFor()
      await pages.page.unroute('**/session')
    })

    step('A page of an origin that is not permitted gets no token', async () => {
      await pages.setOrigin('none')
      await pages.openPage()
      await pages.changeElement(
        `check.addEventListener('error', ({ detail }) => (window.failure = detail))`,
      )
      await pages.start()
      await pages.page.getByText(texts.problems.serverFailed).waitFor()
      assert.match(
        await pages.page.evaluate<string>('failure.cause.message'),
        /--liveness-origins/u,
      )
      await pages.setOrigin(pages.url)
    })

    step('The component can be used with the keyboard, and the focus follows it', async () => {
      await pages.openPage()
      const focused = () =>
        pages.page.evaluate<string>(
          `document.activeElement.shadowRoot?.activeElement?.className ?? ''`,
        )
      await pages.page.keyboard.press('Tab')
      assert.equal(await focused(), 'start')
      await failCamera(pages.page, 'NotReadableError')
      await pages.page.keyboard.press('Enter')
      await pages.page.getByText(texts.problems.cameraBusy).waitFor()
      assert.equal(await focused(), 'start', 'the button for the next attempt')
      await failCamera(pages.page, '')
      await holdText(pages.page, texts.lookStraight)
      await pages.page.keyboard.press('Enter')
      await pages.page.getByText(texts.lookStraight).waitFor()
      assert.equal(await focused(), 'check')
      await holdText(pages.page, undefined)
      await pages.expectResult()
    })

    step(
      'A picture without a face is reported while the camera runs, and spends no attempt',
      async () => {
        await pages.openPage()
        await holdText(pages.page, noFace)
        const attempts: string[] = []
        pages.page.on('request', (request) => {
          if (request.postData()?.includes('"svc.liveness"') === true) attempts.push(request.url())
        })
        await pages.start()
        await pages.page.locator('.hint').getByText(texts.causes.NO_FACE).waitFor()
        await pages.page.getByText(texts.problems.notReady).waitFor()
        await pages.page.locator('.details').getByText(texts.causes.NO_FACE).waitFor()
        assert.deepEqual(attempts, [])
        await holdText(pages.page, undefined)
        await pages.retry()
        await pages.expectResult()
      },
    )

    step(
      'A key with the permission svc.liveness only is sufficient for the default session',
      async () => {
        const environment = { DATA_DIR: pages.facegate.dataDir }
        const permissions = ['--permissions', 'svc.liveness']
        const create = ['key', 'create', '--project', 'default', '--name', 'camera', ...permissions]
        const [key] = /fsk_[\w-]+/u.exec(await cliOutput(create, environment)) ?? []
        await pages.openPage(await pages.startServer('liveness-check', key))
        await pages.start()
        await pages.expectResult()
        await pages.setOrigin(pages.url)
      },
    )

    step('At the rate limit of the project, the component waits and then passes', async () => {
      await pages.openPage()
      let limited = 0
      await pages.page.route('**/frames', async (route) => {
        const isCheck = route.request().postData()?.includes('"svc.analyze"') === true
        const isLimited = limited < (isCheck ? 2 : 3)
        if (!isLimited) return route.continue()
        limited++
        return route.fulfill({
          status: 429,
          headers: {
            'retry-after': '1',
            'access-control-allow-origin': pages.url,
            'access-control-expose-headers': 'Retry-After',
          },
          json: { isJudged: false, state: 'open', causes: [], face: null, detail: 'too many' },
        })
      })
      await pages.start()
      await pages.expectResult()
      assert.equal(limited, 3)
      await pages.page.unroute('**/frames')
    })

    step('A service that refuses checks ends an attempt with angles, with the remedy', async () => {
      const refuse = `check.addEventListener('error', ({ detail }) => (window.failure = detail))`
      const face = { isJudged: false, causes: [], face: null, detail: 'refused' }
      await pages.page.route('**/frames', (route) =>
        route.fulfill({ headers: { 'access-control-allow-origin': pages.url }, json: face }),
      )
      await pages.openPage()
      await pages.changeElement(refuse)
      await pages.start()
      await pages.page.getByText(texts.problems.serverFailed).waitFor()
      const message = await pages.page.evaluate<string>('failure.cause.message')
      assert.match(message, /requireAngles: false/u)
      await pages.page.unroute('**/frames')
    })
  },
)
