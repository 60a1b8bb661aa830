import path from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { serveStaticFiles } from '../../../../src/http/static-files.ts'
import { buildConsole } from '../../../../web/build.ts'
import { rootDir } from '../../paths.ts'
import { closeSharedServices } from '../../shared-service.ts'
import { startConsole, type ConsoleClient, type TestConsole } from '../test-console.ts'
import type { TestGalleryOptions } from '../../gallery/test-gallery.ts'
import { sharedChromium, stepTimeoutMs, watchPageErrors, type PageErrors } from './chromium.ts'
import { openPage } from './console-pages.ts'
import { createConsoleDriver, type ConsoleDriver } from './console-driver.ts'

export const desktopViewport = { width: 1440, height: 900 }
export const phoneViewport = { width: 360, height: 740 }

/** A service with a fake vision client, and a window in which its owner is signed in. */
export type ConsoleBrowser = AsyncDisposable & {
  readonly testConsole: TestConsole
  readonly page: Page
  readonly driver: ConsoleDriver
  readonly pageErrors: PageErrors
  /** Opens a page of the console by its path, such as '/keys'. */
  readonly goto: (path: string) => Promise<void>
  /** Opens a page as a link does, without loading the application again; see `openPage`. */
  readonly open: (path: string) => Promise<void>
  /** Opens a page of a further user in a window of this browser. */
  readonly openPage: (client: ConsoleClient, options?: BrowserContextOptions) => Promise<Page>
}

/**
 * Starts a service, and opens a window of the shared browser. The window has the desktop size without
 * other options.
 */
export async function openConsoleBrowser(
  galleryOptions: TestGalleryOptions = {},
  contextOptions: BrowserContextOptions = {},
): Promise<ConsoleBrowser> {
  await buildConsole()
  await using opened = new AsyncDisposableStack()
  const fallback = serveStaticFiles(path.join(rootDir, 'web', 'dist'))
  const testConsole = opened.use(await startConsole({ fallback, ...galleryOptions }))
  opened.defer(closeSharedServices)
  const browser = await sharedChromium()
  const windows = opened.use(new AsyncDisposableStack())
  const openWindow: ConsoleBrowser['openPage'] = async (client, options) => {
    const defaults = { viewport: desktopViewport, reducedMotion: 'reduce' } as const
    const context = windows.use(await browser.newContext({ ...defaults, ...options }))
    const [name = '', value = ''] = client.cookie().split('=')
    // A secure cookie needs this scheme, and browsers send it to the loopback address over HTTP.
    const url = testConsole.url.replace(/^http:/u, 'https:')
    await context.addCookies([{ name, value, url, secure: true }])
    const page = await context.newPage()
    page.setDefaultTimeout(stepTimeoutMs)
    return page
  }
  const page = await openWindow(testConsole.owner, contextOptions)
  const pageErrors = watchPageErrors(page, testConsole.url)
  const moved = opened.move()
  return {
    testConsole,
    page,
    driver: createConsoleDriver(page),
    pageErrors,
    openPage: openWindow,
    goto: async (pagePath) => {
      await page.goto(`${testConsole.url}${pagePath}`)
      await page.locator('h1').waitFor()
    },
    open: async (pagePath) => {
      await openPage(page, `${testConsole.url}${pagePath}`)
      await page.locator('h1').waitFor()
    },
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}
