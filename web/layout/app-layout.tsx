import { Burger, Drawer, Group } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { Brand } from './brand.tsx'
import { Navigation } from './navigation.tsx'
import { ProjectSwitcher } from './project-switcher.tsx'
import { UserMenu } from './user-menu.tsx'
import { UtcClock } from './utc-clock.tsx'
import './app-layout.css'

/** What stands around every page: the pages on the left, the project and the user on top. */
export function AppLayout({ children }: { readonly children: ReactNode }) {
  const [isOpen, { open, close }] = useDisclosure(false)
  return (
    <div className="fg-frame">
      <a href="#content" className="fg-skip">
        Skip to the content
      </a>
      <header className="fg-header">
        <Group gap="sm" wrap="nowrap">
          <Burger
            className="fg-burger"
            size="sm"
            opened={isOpen}
            onClick={open}
            aria-label="Open the navigation"
          />
          <Brand />
        </Group>
        <ProjectSwitcher />
        <Group gap="xs" wrap="nowrap" ml="auto">
          <UtcClock />
          <UserMenu />
        </Group>
      </header>
      <aside className="fg-aside">
        <Navigation onChoose={close} />
      </aside>
      <Drawer
        opened={isOpen}
        onClose={close}
        size={260}
        title="Pages"
        closeButtonProps={{ 'aria-label': 'Close the navigation' }}
      >
        <Navigation onChoose={close} />
      </Drawer>
      <main id="content" className="fg-main" tabIndex={-1}>
        {children}
      </main>
    </div>
  )
}
