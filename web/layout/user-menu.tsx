import { ActionIcon, Menu, Text, useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconLogout, IconMoon, IconSun, IconUser } from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { storeSession, useSignedInSession } from '../api/session.ts'
import { useApiMutation } from '../api/use-api.ts'

const colorSchemes = [
  { scheme: 'light', text: 'Light', Icon: IconSun },
  { scheme: 'dark', text: 'Dark', Icon: IconMoon },
  { scheme: 'auto', text: 'System', Icon: IconDeviceDesktop },
] as const

/** Shows the signed-in user, the colour schemes and the sign-out button. */
export function UserMenu() {
  const { user, version } = useSignedInSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const client = useQueryClient()
  const signOut = useApiMutation({
    method: 'POST',
    path: '/sign-out',
    onSuccess: (session) => storeSession(client, session),
  })
  return (
    <Menu position="bottom-end" width={220} transitionProps={{ duration: 0 }}>
      <Menu.Target>
        <ActionIcon variant="default" size="lg" aria-label={`Account of ${user.name}`}>
          <IconUser size={17} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} c="var(--mantine-color-text)" truncate>
            {user.name}
          </Text>
          {user.role} · Facegate {version}
        </Menu.Label>
        <Menu.Item component={Link} to="/account">
          Account and sessions
        </Menu.Item>
        <Menu.Divider />
        {colorSchemes.map(({ scheme, text, Icon }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon size={15} aria-hidden />}
            rightSection={colorScheme === scheme ? '✓' : undefined}
            onClick={() => setColorScheme(scheme)}
          >
            {text}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<IconLogout size={15} aria-hidden />}
          onClick={() => signOut.mutate({})}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
