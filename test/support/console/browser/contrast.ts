import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Styles of texts whose contrast was sufficient on an earlier page of the same colour scheme. */
export type CheckedStyles = Set<string>

/** Loads the script of axe into the page, unless it has it. */
export async function loadAxe(page: Page): Promise<void> {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(axe.source)
}

/**
 * Returns the texts of the page with too little contrast. The rule takes two thirds of the time of axe,
 * and pages share their style sheet: it is run for texts whose style is not in `checked`, to which the
 * styles of the texts that pass are added.
 */
export async function contrastFindings(page: Page, checked: CheckedStyles): Promise<string[]> {
  await loadAxe(page)
  const { findings, passed } = await page.evaluate<ContrastResult>(
    `(${contrastScript})(new Set(${JSON.stringify([...checked])}))`,
  )
  for (const style of passed) checked.add(style)
  return [...findings]
}

type ContrastResult = { readonly findings: readonly string[]; readonly passed: readonly string[] }

/**
 * A style is what decides the contrast of a text: its colour and size, the backgrounds behind it and
 * the opacity of the elements around it. A positioned element without a background may cover other
 * content: the style of its texts has the backgrounds at their corners and their centre. A text has no
 * style, and is always checked, if it is part of a drawing or if one of these points is not visible.
 */
const contrastScript = `async (checked) => {
  const isOpaque = (color) => color.startsWith('rgb(')
  const backgroundsAt = (element, x, y) => {
    const stack = document.elementsFromPoint(x, y)
    const index = stack.indexOf(element)
    if (index < 0 || stack.slice(0, index).some((above) => !element.contains(above))) return undefined
    const behind = stack.slice(index)
    if (behind.some((other) => other.closest('svg') || other.matches('img, canvas, video')))
      return undefined
    const styles = behind.map((other) => getComputedStyle(other))
    const end = styles.findIndex((style) => isOpaque(style.backgroundColor))
    return styles
      .slice(0, end < 0 ? undefined : end + 1)
      .map((style) => style.backgroundColor + style.backgroundImage + style.opacity)
      .join(' ')
  }
  const backgroundsBehind = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect()
    const points = [[left + 1, top + 1], [right - 1, top + 1], [left + 1, bottom - 1],
      [right - 1, bottom - 1], [(left + right) / 2, (top + bottom) / 2]]
    const backgrounds = points.map(([x, y]) => backgroundsAt(element, x, y))
    return backgrounds.includes(undefined) ? undefined : [...new Set(backgrounds)].join(' ')
  }
  const styleOf = (element) => {
    if (element.closest('svg')) return undefined
    const own = getComputedStyle(element)
    const parts = [element.localName, own.color, own.fontSize, own.fontWeight, own.textShadow]
    let isCovered = false
    let mayCoverOthers = false
    for (let outer = element; outer; outer = outer.parentElement) {
      const style = getComputedStyle(outer)
      if (style.opacity !== '1' || style.filter !== 'none') parts.push(style.opacity, style.filter)
      if (isCovered) continue
      if (style.backgroundImage !== 'none') parts.push(style.backgroundImage)
      parts.push(style.backgroundColor)
      isCovered = isOpaque(style.backgroundColor)
      if (!isCovered && !['static', 'relative'].includes(style.position)) mayCoverOthers = true
    }
    const behind = mayCoverOthers ? backgroundsBehind(element) : ''
    return behind === undefined ? undefined : [...parts, behind].join(' ')
  }
  const hasText = (element) =>
    element.matches('input, select, textarea') ||
    [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim())
  // Texts that only screen readers read are outside the page or have one pixel.
  const isOnPage = (element) => {
    const { right, bottom, width, height } = element.getBoundingClientRect()
    return right + scrollX > 0 && bottom + scrollY > 0 && width > 1 && height > 1
  }
  const styles = new Map()
  for (const element of document.body.querySelectorAll('*')) {
    if (!hasText(element) || !element.checkVisibility() || !isOnPage(element)) continue
    const style = styleOf(element)
    if (style === undefined || !checked.has(style)) styles.set(element, style)
  }
  if (styles.size === 0) return { findings: [], passed: [] }
  const { violations, passes } = await axe.run([...styles.keys()], {
    runOnly: ['color-contrast'],
    resultTypes: ['violations', 'passes'],
    elementRef: true,
    preload: false,
  })
  const nodes = (results) => results.flatMap((result) => result.nodes)
  const failed = new Set(nodes(violations).map(({ element }) => styles.get(element)))
  return {
    findings: nodes(violations).map(({ html }) => 'color-contrast: ' + html.slice(0, 160)),
    passed: [...new Set(nodes(passes).map(({ element }) => styles.get(element)))]
      .filter((style) => style !== undefined && !failed.has(style)),
  }
}`
