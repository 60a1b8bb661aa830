import { Image } from '@mantine/core'
import { renderSVG } from 'uqr'

const sizePx = 200
/** The empty border that ISO/IEC 18004 requires, in modules. */
const quietModules = 4

/** A QR code, dark on light in both colour schemes: some apps cannot read the inverse. */
export function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const svg = renderSVG(text, { border: quietModules })
  const url = `data:image/svg+xml,${encodeURIComponent(svg)}`
  return <Image src={url} alt={label} w={sizePx} h={sizePx} />
}
