import { IconHelp } from '@tabler/icons-react'
import { useLocation } from '@tanstack/react-router'
import { helpAddressOf } from './help-pages.ts'

/** Opens the documentation of the present page in another tab, so that a form keeps its state. */
export function HelpLink() {
  const { pathname } = useLocation()
  return (
    <a
      className="fg-help"
      href={helpAddressOf(pathname)}
      target="_blank"
      rel="noreferrer"
      title="Documentation of this page"
      aria-label="Documentation of this page"
    >
      <IconHelp size={18} stroke={1.6} aria-hidden />
    </a>
  )
}
