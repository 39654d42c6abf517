import { mount } from 'svelte';
import '../look/base.css';
import ChatPage from './ChatPage.svelte';

mount(ChatPage, { target: document.body });
