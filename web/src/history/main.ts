import { mount } from 'svelte';
import '../look/base.css';
import '../social/social.css';
import HistoryPage from './HistoryPage.svelte';

mount(HistoryPage, { target: document.body });
