import { Burger, Drawer, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Brand } from './brand.tsx'
import { HelpLink } from '../help/help-link.tsx'
import { Navigation } from './navigation.tsx'
import { SearchButton } from '../search/search-button.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import { useFileDropGuard } from './use-file-drop-guard.ts'
import { UserMenu } from './user-menu.tsx'
import { UtcClock } from './utc-clock.tsx'
import './app-layout.css'

/** The layout of every page: navigation on the left, project switcher and user menu at the top. */
export function AppLayout({ children }: { readonly children: ReactNode }) {
  const [isOpen, { open, close }] = useDisclosure(false)
  useFileDropGuard()
  return (
    <div className="fg-layout">
      <a href="#content" className="fg-skip">
        Skip to content
      </a>
      <header className="fg-header">
        <Group gap="sm" wrap="nowrap">
          <Burger
            className="fg-burger"
            size="sm"
            opened={isOpen}
            onClick={open}
            aria-label="Open navigation"
          />
          <Brand />
        </Group>
        <ProjectSwitcher />
        <Group gap="xs" wrap="nowrap" ml="auto">
          <SearchButton />
          <HelpLink />
          <UtcClock />
          <UserMenu />
        </Group>
      </header>
      <aside className="fg-aside">
        <Navigation onNavigate={close} />
      </aside>
      <Drawer
        opened={isOpen}
        onClose={close}
        size={260}
        title="Navigation"
        closeButtonProps={{ 'aria-label': 'Close navigation' }}
      >
        <Navigation onNavigate={close} />
      </Drawer>
      <main id="content" className="fg-main" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}
