import type { Page } from 'playwright-core'
import { fitsWidth } from './chromium.ts'
import { desktopViewport, phoneViewport } from './console-browser.ts'
import type { ConsoleDriver } from './console-driver.ts'

/** The smallest width and height of a target on a phone, px. */
const targetPx = 44

/**
 * Inspects the open page in both schemes, on a desktop and on a phone. It starts with the present size
 * and keeps the other one, so that a page after it needs one change of the size.
 */
export async function inspectPage(page: Page, driver: ConsoleDriver, name: string): Promise<void> {
  if (isPhone(page)) {
    await inspectOnPhone(page, driver, name)
    await page.setViewportSize(desktopViewport)
    await driver.inspectSchemes(name)
  } else {
    await driver.inspectSchemes(name)
    await page.setViewportSize(phoneViewport)
    await inspectOnPhone(page, driver, name)
  }
}

const isPhone = (page: Page): boolean => page.viewportSize()?.width === phoneViewport.width

/** On a phone, a page must also not scroll sideways, and its targets must be large enough. */
async function inspectOnPhone(page: Page, driver: ConsoleDriver, name: string): Promise<void> {
  if (!(await fitsWidth(page, phoneViewport.width)))
    driver.violations.push(`${name}: scrolls sideways`)
  await driver.inspectSchemes(`${name}-phone`)
  driver.violations.push(...(await smallTargets(page)).map((target) => `${name}: ${target}`))
}

/** Inspects what is shown in both schemes, and on a phone, where it must not scroll sideways. */
export async function inspectDialog(
  page: Page,
  driver: ConsoleDriver,
  name: string,
): Promise<void> {
  const first = driver.scheme()
  if (first === 'dark') await driver.inspect(name, 'dark')
  await driver.inspect(name, 'light')
  const size = page.viewportSize() ?? desktopViewport
  await page.setViewportSize(phoneViewport)
  if (!(await fitsWidth(page, phoneViewport.width)))
    driver.violations.push(`${name}: scrolls sideways`)
  await driver.inspect(`${name}-phone`, 'light')
  await page.setViewportSize(size)
  if (first === 'light') await driver.inspect(name, 'dark')
}

/** Returns the visible controls that are smaller than `targetPx`. */
export async function smallTargets(page: Page): Promise<string[]> {
  const targets = await page.evaluate<readonly string[]>(smallTargetsScript)
  return targets.map((target) => `smaller than ${targetPx} px: ${target}`)
}

/**
 * A script, because the tests have no types of the DOM. Exceptions: links in a sentence, the skip link,
 * and the bars of a chart, because a tap shows their values and "View calls" opens their calls.
 */
const smallTargetsScript = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
  .filter((element) => {
    const isExempt = element.matches('.fg-chart-mark, .fg-skip, [type=hidden], [type=file], [tabindex="-1"]')
    const isInline = element.tagName === 'A' && getComputedStyle(element).display === 'inline'
    return !isExempt && !isInline && element.checkVisibility({ visibilityProperty: true })
  })
  .flatMap((element) => {
    const labelled = element.closest('.fg-tick-target, .mantine-Switch-body, .mantine-Checkbox-body, .mantine-Radio-body, .mantine-Input-wrapper')
    const segment = element.matches('[type=radio]') ? element.labels?.[0] : undefined
    const { width, height } = (labelled ?? segment ?? element).getBoundingClientRect()
    const isSmall = width > 0 && Math.min(width, height) < ${targetPx - 0.5}
    return isSmall ? [Math.round(width) + ' x ' + Math.round(height) + ' ' + element.outerHTML.slice(0, 160)] : []
  })`
